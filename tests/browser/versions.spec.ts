// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { type Page, expect, test } from './browser';

import { AgentPage } from './agent';
import { ChatPage } from './chat';
import { code } from './documents';

const SETTINGS = [
  'Agent Chat',
  'Agents: Editor Context',
  'Agents: MCP Servers',
  'Agents: Notifications',
  'Agents: Permissions'
];

/** What the page complains about, from now on. */
function complaints(page: Page): string[] {
  const found: string[] = [];
  page.on('pageerror', error => found.push(error.stack ?? error.message));
  page.on('console', message => {
    if (['error', 'warning'].includes(message.type())) {
      found.push(message.text());
    }
  });
  return found;
}

test.afterEach(async ({ page }) => {
  await new ChatPage(page).setting('mcp', 'servers', []);
});

test('nothing is missing in this version of JupyterLab', async ({
  page,
  request
}) => {
  const found = complaints(page);
  const agent = await AgentPage.begin(page, request);
  const cells = [code('a', 'x = 1'), code('b', 'print(x)')];
  const notebook = {
    nbformat: 4,
    nbformat_minor: 5,
    metadata: { kernelspec: { name: 'python3', display_name: 'Python 3' } },
    cells
  };
  await agent.put('versions.ipynb', notebook);
  await agent.put('versions.py', 'x = 1\n');
  await agent.show('versions.ipynb');
  const root = await agent.root();

  // Cells change in place, and are reviewed side by side.
  const [first, second] = cells;
  const content = JSON.stringify({
    ...notebook,
    cells: [{ ...first, source: 'x = 2' }, code('new', 'y = 3'), second]
  });
  await agent.play(
    [
      'request',
      'fs/write_text_file',
      { path: `${root}/versions.py`, content: 'x = 2\n' }
    ],
    [
      'request',
      'fs/write_text_file',
      { path: `${root}/versions.ipynb`, content }
    ]
  );
  await expect(agent.cell(0)).toContainText('x = 2');
  await expect(agent.cell(1)).toContainText('y = 3');
  const changes = agent.panel.locator('.jp-acp-Change');
  await expect(changes).toHaveCount(2);
  await expect(changes.locator('.jp-acp-Diff:empty')).toHaveCount(0);
  const review = (name: string): Promise<void> =>
    agent.button(new RegExp(`Review .*${name}`)).click();
  const tab = page.locator('.jp-acp-ChangeWidget:not(.lm-mod-hidden)');
  await review('versions.ipynb');
  await expect(tab.locator('.jp-Cell-diff').first()).toBeVisible();
  await review('versions.py');
  await expect(tab.locator('.cm-mergeViewEditor')).toHaveCount(2);
  await expect(tab.locator('.cm-changedText').first()).toBeVisible();

  await agent.newSession();
  await agent.send('/stream 1000');
  await expect(agent.answers).toHaveText([ChatPage.numbers(1000)]);
  await agent.send('/run echo allo""wed');
  await agent.cards.getByRole('button', { name: 'Allow once' }).click();
  await expect(agent.log.locator('.jp-acp-Tool')).toContainText('allowed');
  await agent.isIdle();

  await agent.execute('settingeditor:open', { query: 'Agent' });
  await expect(page.locator('.jp-SettingsHeader-title')).toHaveText(SETTINGS);
  const servers = page.locator('form').filter({ hasText: 'MCP' });
  await servers.getByRole('button', { name: 'Add' }).click();
  await servers.locator('input[label="Name"]').fill('new');
  await expect
    .poll(() => agent.setting('mcp', 'servers'))
    .toMatchObject([{ name: 'new', type: 'stdio' }]);
  expect(found).toEqual([]);

  // What `jupyter labextension list` says of it.
  const listed = await request.get('/lab/api/extensions');
  const extensions = (await listed.json()) as { name: string }[];
  expect(
    extensions.find(({ name }) => name === 'jupyter-acp-bridge')
  ).toMatchObject({ enabled: true, status: 'ok' });
});
