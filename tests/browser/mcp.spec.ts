// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { type Locator, expect, test } from './browser';

import { AgentPage } from './agent';
import { ChatPage } from './chat';

interface IEntry {
  name: string;
  command: string;
  args: string[];
  env: { name: string; value: string }[];
}

test.afterEach(async ({ page }) => {
  await new ChatPage(page).setting('mcp', 'servers', []);
});

test('a server that is set up on the page of the settings reaches the agent', async ({
  page,
  request
}) => {
  const { page: opened } = await ChatPage.open(page);
  const agent = new AgentPage(opened, request);
  await agent.execute('settingeditor:open', { query: 'Agents: MCP Servers' });
  const form = page
    .locator('.jp-SettingsForm')
    .filter({ hasText: 'Agents: MCP Servers' });
  const add = (within: Locator): Locator =>
    within.locator('> .jp-mod-accept, > fieldset > .jp-mod-accept');
  const servers = form.locator('.field-array-of-object').first();
  const server = (index: number): Locator =>
    servers.locator('> .array-item').nth(index);
  const field = (index: number, label: string): Locator =>
    server(index).locator(`input[label="${label}"]`).first();

  await add(servers).click();
  await field(0, 'Name').fill('issues');
  await field(0, 'Command').fill('sh');
  await server(0).locator('.field-array-of-string > .jp-mod-accept').click();
  await server(0).locator('.field-array-of-string input').fill('-x');
  const env = server(0).locator('.field-array-of-object');
  await add(env).click();
  await env.locator('input[label="Name"]').fill('TOKEN');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Control+A');
  await page.keyboard.type('${ACP_TEST_SECRET}');

  await add(servers).click();
  await field(1, 'Name').fill('web');
  await server(1).locator('select').selectOption({ label: 'URL (http)' });
  await expect(field(1, 'Command')).toHaveCount(0);
  await field(1, 'URL').fill('https://example.org/mcp');

  await add(servers).click();
  await field(2, 'Name').fill('gone');
  await field(2, 'Command').fill('no-such-program-here');
  await expect
    .poll(() => agent.setting('mcp', 'servers'))
    .toMatchObject([
      {
        name: 'issues',
        env: [{ name: 'TOKEN', value: '${ACP_TEST_SECRET}' }]
      },
      { name: 'web', type: 'http', url: 'https://example.org/mcp' },
      { name: 'gone', command: 'no-such-program-here' }
    ]);

  await agent.newSession('scripted');
  const composer = agent.panel.locator('.jp-acp-Prompt');
  const button = composer.getByTitle('MCP servers of this session');
  await expect(button).toHaveText('1 of 3');
  const list = composer.getByRole('list', {
    name: 'MCP servers of this session'
  });
  await expect(list).toBeHidden();
  await button.focus();
  await button.press('Enter');
  await expect(list.getByRole('listitem')).toHaveText([
    'issueson',
    'webnot supported by this agent',
    /^goneThere is no program no-such-program-here/
  ]);
  await page.keyboard.press('Escape');
  await expect(list).toBeHidden();
  await expect(button).toBeFocused();
  await button.click();
  await expect(list).toBeVisible();
  await agent.input.click();
  await expect(list).toBeHidden();
  await expect(agent.log).toContainText(
    'This session has no MCP server “gone”. There is no program'
  );

  const entries = await agent.tell<IEntry[]>('mcp');
  const entry = entries.find(({ name }) => name === 'issues')!;
  expect(entry).toMatchObject({
    args: ['-x'],
    env: [{ name: 'TOKEN', value: 'known to the server alone' }]
  });
  expect(entry.command).toMatch(/^\/.*\/sh$/);
  expect(entries.map(({ name }) => name)).not.toContain('web');
});

test('what a session has is what was set up when it began', async ({
  page,
  request
}) => {
  const agent = await AgentPage.begin(page, request);
  const button = agent.panel.getByTitle('MCP servers of this session');
  await expect(button).toHaveCount(0);
  const issues = { name: 'issues', command: 'sh' };
  await agent.setting('mcp', 'servers', [issues]);
  await agent.newSession('scripted');
  await expect(button).toHaveText('1');
  await agent.setting('mcp', 'servers', [{ ...issues, enabled: false }]);
  await expect(button).toHaveText('1');
  // An agent that has ended is given what is set up now.
  await agent.send('[["exit", 3]]');
  await expect(agent.log).toContainText('exited with status 3');
  await agent.send('[["chunk", "here again"]]');
  await expect(agent.answers.last()).toContainText('here again');
  await expect(button).toHaveCount(0);
});

test('the list leads to the settings', async ({ page, request }) => {
  const agent = await AgentPage.begin(page, request);
  await agent.setting('mcp', 'servers', [{ name: 'issues', command: 'sh' }]);
  await agent.newSession('scripted');
  await agent.panel.getByTitle('MCP servers of this session').click();
  await agent.panel
    .locator('.jp-acp-Servers')
    .getByRole('button', { name: 'Settings' })
    .click();
  await expect(page.locator('.jp-SettingsForm')).toContainText(
    'Agents: MCP Servers'
  );
});
