// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { expect, test } from './browser';

import { AgentPage } from './agent';
import { code } from './documents';

test('the chat works in Notebook 7, on the open notebook', async ({
  page,
  request
}) => {
  const agent = new AgentPage(page, request);
  await agent.put('seven.ipynb', {
    nbformat: 4,
    nbformat_minor: 5,
    metadata: { kernelspec: { name: 'python3', display_name: 'Python 3' } },
    cells: [code('a', 'x = 1')]
  });
  await page.goto('/notebooks/seven.ipynb');
  await agent.ready();
  await agent.execute('jupyter-acp-bridge:open');
  await agent.newSession('scripted');
  const panel = (await agent.panel.boundingBox())!;
  const { width } = page.viewportSize()!;
  expect(panel.x + panel.width).toBeLessThanOrEqual(width);

  // Windows tell what has changed a few times a second.
  await expect.poll(() => agent.active()).toBe('seven.ipynb');
  await expect(agent.panel.getByRole('switch')).toHaveText(
    'seven.ipynb: cell 1'
  );
  const path = `${await agent.root()}/seven.ipynb`;
  const text = await agent.ask<{ content: string }>('fs/read_text_file', {
    path
  });
  const content = text.content.replace('x = 1', 'x = 2');
  await agent.ask('fs/write_text_file', { path, content });
  await expect(agent.cell(0)).toContainText('x = 2');
  // The editor comes later, and would push the button away.
  await expect(
    agent.panel.locator('.jp-acp-Change .cm-line').first()
  ).toBeVisible();
  await agent.panel
    .getByRole('button', { name: /^Undo: / })
    .first()
    .click();
  await expect(agent.cell(0)).toContainText('x = 1');

  // There is no main area for sessions: they stay where they are.
  await agent.button('Sessions and agents').click();
  await expect(agent.panel.locator('.jp-acp-Session').first()).toBeVisible();
});
