// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { expect, test } from './browser';

import { ChatPage } from './chat';

test('a guest watches a session and has nothing to write with', async ({
  page,
  browser,
  baseURL,
  extraHTTPHeaders
}) => {
  const owner = await ChatPage.start(page);
  await owner.send('/help');
  await expect(owner.answers.first()).toBeVisible();

  const context = await browser.newContext({ baseURL, extraHTTPHeaders });
  await context.addCookies([{ name: 'guest', value: '1', url: baseURL! }]);
  const guest = await ChatPage.open(await context.newPage());
  await expect(guest.panel.getByRole('note')).toContainText('You can watch');
  await expect(
    guest.panel.getByRole('heading', { name: 'Start a session' })
  ).toHaveCount(0);
  await guest.panel.getByRole('button', { name: /help/ }).first().click();
  await expect(guest.answers.first()).toBeVisible();
  await expect(guest.panel.getByRole('note')).toContainText('You can watch');
  await expect(guest.input).toHaveCount(0);
  // Nothing is offered that would be refused.
  await expect(guest.button('New session')).toHaveCount(0);
  await guest.button('Session actions').click();
  const menu = guest.page.getByRole('menu').last();
  await expect(menu).toContainText('Export to Markdown');
  for (const refused of ['Rename', 'Fork', 'Delete']) {
    await expect(menu.getByRole('menuitem', { name: refused })).toHaveCount(0);
  }
  await guest.page.keyboard.press('Escape');

  // What is said meanwhile is seen as it is said.
  await owner.send('/stream 5');
  await expect(guest.answers).toHaveCount(2);
  await guest.page.screenshot({ path: test.info().outputPath('guest.png') });
  await context.close();
});
