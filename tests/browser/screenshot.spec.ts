// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';

import { type Page, expect, test } from './browser';

import { AgentPage } from './agent';
import { ChatPage } from './chat';

const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
const DEGREES = [9, 11, 14, 13, 16, 12, 11];

/** What a plotting library would have made of them, as base64. */
function bars(page: Page): Promise<string> {
  return page.evaluate(
    ([days, degrees]) => {
      const canvas = document.createElement('canvas');
      [canvas.width, canvas.height] = [460, 200];
      const context = canvas.getContext('2d')!;
      context.textAlign = 'center';
      context.font = '14px sans-serif';
      degrees.forEach((value, day) => {
        context.fillStyle = '#1976d2';
        context.fillRect(20 + day * 62, 172 - value * 10, 42, value * 10);
        context.fillStyle = '#777777';
        context.fillText(days[day], 41 + day * 62, 192);
      });
      return canvas.toDataURL('image/png').split(',')[1];
    },
    [DAYS, DEGREES] as const
  );
}

const cell = (id: string, source: string, output?: object): object => ({
  id,
  cell_type: 'code',
  source,
  metadata: {},
  execution_count: id.length,
  outputs: output
    ? [
        {
          output_type: 'execute_result',
          execution_count: id.length,
          metadata: {},
          data: output
        }
      ]
    : []
});

/** The picture of the README: taken each time, kept if ACP_SCREENSHOTS is set. */
test('the chat beside a notebook, as the README shows it', async ({
  page,
  request
}) => {
  await page.setViewportSize({ width: 1400, height: 820 });
  await new AgentPage(page, request).put('weather.ipynb', {
    nbformat: 4,
    nbformat_minor: 5,
    metadata: {
      kernelspec: { name: 'python3', display_name: 'Python 3 (ipykernel)' },
      language_info: { name: 'python' }
    },
    cells: [
      {
        id: 'title',
        cell_type: 'markdown',
        source: '# A week of weather\n\nTemperatures at noon, in Celsius.',
        metadata: {}
      },
      cell(
        'a',
        `days = ${JSON.stringify(DAYS).replaceAll('"', "'")}\ncelsius = ${JSON.stringify(DEGREES)}`
      ),
      cell('bb', 'plot(days, celsius)', {
        'text/plain': '<Figure>',
        'image/png': await bars(page)
      }),
      cell('ccc', 'sum(celsius) / len(celsius)', {
        'text/plain': '12.285714285714286'
      })
    ]
  });
  const chat = await ChatPage.open(page);
  await new AgentPage(page, request).show('weather.ipynb');
  await chat.newSession();
  await chat.send('/outline');
  await chat.isIdle();
  await chat.send('/edit weather.ipynb celsius => degrees');
  const card = chat.cards;
  await expect(card.getByRole('button', { name: 'Allow once' })).toBeVisible();

  // Some room for both.
  const { x } = (await chat.panel.boundingBox())!;
  await page.mouse.move(x - 3, 400);
  await page.mouse.down();
  await page.mouse.move(x - 150, 400, { steps: 4 });
  await page.mouse.up();
  await page.locator('.jp-NotebookPanel .jp-Cell').first().click();
  await page.waitForTimeout(500);

  const picture = test.info().outputPath('chat.png');
  await page.screenshot({ path: picture });
  if (process.env.ACP_SCREENSHOTS) {
    await copyFile(picture, join(process.env.ACP_SCREENSHOTS, 'chat.png'));
  }

  // What is seen is true: the notebook is changed when somebody says so, and not before.
  const cells = page.locator('.jp-NotebookPanel .jp-CodeCell .cm-content');
  await expect(cells.first()).toContainText('celsius');
  await card.getByRole('button', { name: 'Allow once' }).click();
  await expect(cells.first()).toContainText('degrees');
  await chat.isIdle();
});
