// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type axe from 'axe-core';

import { expect, test } from '@playwright/test';

import { ChatPage } from './chat';

async function loadAxe(chat: ChatPage): Promise<void> {
  await chat.page.addScriptTag({
    path: require.resolve('axe-core/axe.min.js')
  });
}

/** What axe finds wrong in the panel, in few words. */
async function violations(chat: ChatPage): Promise<string[]> {
  const results = await chat.page.evaluate(() =>
    (window as unknown as { axe: typeof axe }).axe.run('#jp-acp-panel')
  );
  return results.violations.map(
    violation => `${violation.id}: ${violation.nodes[0].html}`
  );
}

for (const theme of ['JupyterLab Light', 'JupyterLab Dark']) {
  test(`axe finds nothing wrong in ${theme}`, async ({ page, request }) => {
    await request.put('/api/contents/axe.md', {
      data: { type: 'file', format: 'text', content: 'trailing   \n' }
    });
    const chat = await ChatPage.open(page);
    await chat.execute('apputils:change-theme', { theme });
    await loadAxe(chat);
    await chat.panel.getByText('More agents').click();
    expect(await violations(chat)).toEqual([]);

    await chat.newSession();
    await chat.input.fill('/');
    await expect(chat.panel.getByRole('listbox')).toBeVisible();
    expect(await violations(chat)).toEqual([]);

    await chat.send('/plan');
    await chat.isIdle();
    for (const ask of ['/edit axe.md', '/ask', '/run ls']) {
      await chat.send(ask);
      await expect(chat.cards).toHaveCount(1);
      expect(await violations(chat)).toEqual([]);
      await chat.cards.getByRole('button').last().click();
      await chat.isIdle();
    }

    await chat.send('/run sleep 300');
    await chat.cards.getByRole('button', { name: 'Allow once' }).click();
    await expect(chat.button('Open in terminal')).toBeVisible();
    expect(await violations(chat)).toEqual([]);
    await chat.button('Stop').click();
    await chat.isIdle();
  });
}

test('axe finds nothing wrong in what a crash looks like', async ({ page }) => {
  const chat = await ChatPage.start(page);
  await loadAxe(chat);
  await chat.send('/crash');
  await expect(chat.log.getByRole('alert')).toBeVisible();
  expect(await violations(chat)).toEqual([]);
});
