// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { type APIRequestContext, expect, test } from './browser';

import { ChatPage } from './chat';

async function listed(request: APIRequestContext): Promise<string[]> {
  const response = await request.get('/api/terminals');
  const terminals = (await response.json()) as { name: string }[];
  return terminals
    .map(terminal => terminal.name)
    .filter(name => name.startsWith('agent_'));
}

async function run(chat: ChatPage, line: string): Promise<void> {
  await chat.send(`/run ${line}`);
  await chat.cards.getByRole('button', { name: 'Allow once' }).click();
}

test('a running command is opened as a terminal, typed into, and leaves', async ({
  page,
  request
}) => {
  const chat = await ChatPage.start(page);
  await run(chat, 'echo rea""dy; read name; echo "hello $name"; sleep 2');
  await expect(chat.log.locator('.jp-acp-Terminal')).toContainText('ready');
  const open = chat.button('Open in terminal');
  await open.press('Enter');
  const terminal = page.locator('.jp-Terminal');
  await expect(terminal).toBeVisible();
  await expect(terminal.locator('.xterm')).toBeVisible();
  const [name] = await listed(request);
  await expect(
    page.getByRole('tab', { name: `Terminal ${name}` })
  ).toBeVisible();
  await terminal.click();
  await page.keyboard.type('Ada');
  await page.keyboard.press('Enter');
  await expect(chat.log.locator('.jp-acp-Terminal')).toContainText('hello Ada');
  await chat.isIdle();
  await expect(open).toHaveCount(0);
  await expect(chat.log.locator('.jp-acp-Terminal')).toContainText('hello Ada');
  await expect(terminal).toHaveCount(0);
  expect(await listed(request)).toEqual([]);
});

test('closing the tab leaves the command alone, shutting down ends it', async ({
  page,
  request
}) => {
  const chat = await ChatPage.start(page);
  await run(chat, 'sleep 300');
  const open = chat.button('Open in terminal');
  await open.click();
  await expect(page.locator('.jp-Terminal')).toBeVisible();
  const [name] = await listed(request);
  await chat.execute('application:close');
  await expect(page.locator('.jp-Terminal')).toHaveCount(0);
  await chat.isRunning();
  expect(await listed(request)).toEqual([name]);

  await chat.execute('running:show-panel');
  await page
    .locator('#jp-running-sessions .jp-RunningSessions-item', {
      hasText: name
    })
    .hover();
  await page
    .locator('#jp-running-sessions .jp-RunningSessions-item', {
      hasText: name
    })
    .locator('.jp-RunningSessions-itemShutdown')
    .click();
  await chat.isIdle();
  await expect(chat.log).toContainText('Ended by signal SIGTERM');
  await expect(open).toHaveCount(0);
  expect(await listed(request)).toEqual([]);
});
