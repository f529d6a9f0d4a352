// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type axe from 'axe-core';

import { type Locator, expect, test } from './browser';

import { AgentPage } from './agent';
import { ChatPage } from './chat';
import { code } from './documents';
import { RemotePage, Repository } from './remote';

async function loadAxe(chat: ChatPage): Promise<void> {
  await chat.page.addScriptTag({
    path: require.resolve('axe-core/axe.min.js')
  });
}

/** Change the theme, and wait until everything looks like that. */
async function dress(chat: ChatPage, theme: string): Promise<void> {
  await chat.execute('apputils:change-theme', { theme });
  const body = chat.page.locator('body');
  await expect(body).toHaveAttribute('data-jp-theme-name', theme);
  await expect(body).toHaveCSS('--jp-layout-color0', /./);
  // It covers the page meanwhile, and nothing that is covered is looked at.
  await expect(chat.page.locator('#jupyterlab-splash')).toHaveCount(0);
  await expect(chat.panel).toBeVisible();
}

/** What axe finds wrong in the panel or elsewhere, in few words. */
async function violations(
  chat: ChatPage,
  where = '#jp-acp-panel'
): Promise<string[]> {
  const results = await chat.page.evaluate(
    selector => (window as unknown as { axe: typeof axe }).axe.run(selector),
    where
  );
  return results.violations.map(
    violation => `${violation.id}: ${violation.nodes[0].html}`
  );
}

for (const theme of [
  'JupyterLab Light',
  'JupyterLab Dark',
  'JupyterLab Dark High Contrast'
]) {
  test(`axe finds nothing wrong in ${theme}`, async ({ page, request }) => {
    await request.put('/api/contents/axe.md', {
      data: { type: 'file', format: 'text', content: 'trailing   \n' }
    });
    const chat = await ChatPage.open(page);
    await dress(chat, theme);
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

    await chat.newSession();
    await expect(chat.panel.getByRole('tab')).toHaveCount(2);
    await chat.button('Sessions and agents').click();
    await chat.panel.locator('.jp-acp-Session').first().hover();
    expect(await violations(chat)).toEqual([]);
    await chat.panel.getByRole('tab').last().click();

    await chat.send('/run sleep 300');
    await chat.cards.getByRole('button', { name: 'Allow once' }).click();
    await expect(chat.button('Open in terminal')).toBeVisible();
    expect(await violations(chat)).toEqual([]);
    await chat.button('Stop').click();
    await chat.isIdle();
  });
}

/** The lines around an element, which are all that is left where the system sets the colours. */
function lines(node: Locator): Promise<string> {
  return node.evaluate(element => {
    const { border, borderTop, outline } = getComputedStyle(element);
    return [border, borderTop, outline].join();
  });
}

test('selection and focus are lines if the system sets the colours', async ({
  page
}) => {
  const chat = await ChatPage.start(page);
  await chat.newSession();
  await page.emulateMedia({ forcedColors: 'active' });
  const tabs = chat.panel.getByRole('tab');
  await expect(tabs).toHaveCount(2);
  const prompt = chat.panel.locator('.jp-acp-Prompt');
  await tabs.last().focus();
  const [open, unfocused] = [await lines(tabs.last()), await lines(prompt)];
  await page.keyboard.press('ArrowLeft');
  await expect(tabs.first()).toBeFocused();
  const focused = await lines(tabs.first());
  const selected = await lines(tabs.last());
  await chat.input.fill('/');
  const options = chat.panel.getByRole('listbox').getByRole('option');
  await expect(options.nth(1)).toBeVisible();
  const other = await lines(tabs.first());
  expect(new Set([open, focused, selected, other]).size).toBe(4);
  expect(await lines(prompt)).not.toBe(unfocused);
  expect(await lines(options.first())).not.toBe(await lines(options.nth(1)));
  await page.emulateMedia({ forcedColors: 'none' });
});

test('a page that is written from right to left is mirrored, but no code', async ({
  page
}) => {
  const chat = await ChatPage.start(page);
  await page.evaluate(() => {
    document.documentElement.dir = 'rtl';
  });
  await chat.send('/plan');
  await chat.isIdle();
  const entry = chat.log.locator('.jp-acp-Plan-entry').first();
  await expect(entry).toHaveCSS('padding-right', '22px');
  const dot = await entry.evaluate(
    node => getComputedStyle(node, '::before').right
  );
  expect(dot).toBe('2px');
  await chat.input.fill('/');
  const name = chat.panel.locator('.jp-acp-Completion-name').first();
  await expect(name).toHaveCSS('direction', 'ltr');
  const gaps = await name.evaluate(node => {
    const [inner, outer] = [node, node.parentElement!].map(each =>
      each.getBoundingClientRect()
    );
    return [inner.left - outer.left, outer.right - inner.right];
  });
  expect(gaps[0]).toBeGreaterThan(gaps[1]);
});

for (const theme of ['JupyterLab Light', 'JupyterLab Dark']) {
  test(`axe finds nothing wrong in remote sessions in ${theme}`, async ({
    page,
    request
  }) => {
    const chat = await RemotePage.begin(page, request);
    await dress(chat, theme);
    await loadAxe(chat);
    const name = theme.replace(/\W/g, '-');
    const repository = new Repository(await chat.root(), name, {
      'a.txt': 'a\n'
    });
    repository.write({ 'a.txt': 'b\n', 'b.txt': 'b\n' });
    await chat.prepare(repository.folder);
    await expect(chat.choice('Current state of the remote')).toBeVisible();
    await chat.setup.getByText('2 uncommitted files', { exact: true }).click();
    expect(await violations(chat)).toEqual([]);

    await chat.choice('Push 2 uncommitted files first').check();
    await chat.start();
    const card = await chat.work(1, ['write', 'a.txt', 'c\n']);
    await card.getByRole('button', { name: /Modified a\.txt/ }).click();
    await expect(card.locator('.cm-line').first()).toBeVisible();
    expect(await violations(chat)).toEqual([]);
    repository.write({ 'a.txt': 'mine\n' });
    await chat.act(card, 'Merge');
    await expect(card.getByRole('alert')).toBeVisible();
    for (const action of ['Check Out as a Branch', 'Discard']) {
      await chat.act(card, action);
      expect(await violations(chat)).toEqual([]);
    }
    await card.getByRole('button', { name: 'Discard', exact: true }).click();
    await expect(card).toContainText('discarded');
    expect(await violations(chat)).toEqual([]);
    await chat.button('Sessions and agents').click();
    expect(await violations(chat)).toEqual([]);
  });
}

test('axe finds nothing wrong in what a crash looks like', async ({ page }) => {
  const chat = await ChatPage.start(page);
  await loadAxe(chat);
  await chat.send('/crash');
  await expect(chat.log.getByRole('alert')).toBeVisible();
  expect(await violations(chat)).toEqual([]);
});

for (const theme of ['JupyterLab Light', 'JupyterLab Dark']) {
  test(`axe finds nothing wrong in logins, reports and logs in ${theme}`, async ({
    page
  }) => {
    const chat = await ChatPage.open(page);
    await dress(chat, theme);
    await loadAxe(chat);
    await chat.execute('jupyter-acp-bridge:new-session', { agent: 'guarded' });
    const login = chat.panel.getByRole('region', { name: 'Log in to Guarded' });
    await expect(login).toBeVisible();
    expect(await violations(chat)).toEqual([]);
    await login.getByRole('button', { name: 'Cancel' }).click();
    await chat.setting('mcp', 'servers', [
      { name: 'on', command: 'sh' },
      { name: 'gone', command: 'no-such-program-here' }
    ]);
    await chat.newSession('choosy');
    await chat.setting('mcp', 'servers', []);
    await chat.panel.getByTitle('MCP servers of this session').click();
    await expect(chat.panel.locator('.jp-acp-Servers-list')).toBeVisible();
    expect(await violations(chat)).toEqual([]);
    const calls = ['1', '2', '3', '4', '5'].map(id => ({
      sessionUpdate: 'tool_call',
      toolCallId: id,
      title: `Call ${id}`,
      kind: id === '5' ? 'execute' : 'read',
      status: id === '5' ? 'failed' : 'completed',
      rawInput: { id },
      ...(id === '5' && {
        _meta: { terminal_output: { terminal_id: 'x', data: 'text\n' } }
      })
    }));
    const reports = [
      { sessionUpdate: 'usage_update', used: 95, size: 100 },
      { sessionUpdate: 'notice', severity: 'error', title: 'Oh' },
      {
        sessionUpdate: 'compaction_update',
        compactionId: 'c',
        status: 'in_progress',
        summary: [{ type: 'text', text: 'tea' }]
      }
    ];
    await chat.send(
      JSON.stringify([...calls, ...reports].map(update => ['update', update]))
    );
    await chat.isIdle();
    await chat.button(/^4 tool calls/).click();
    await chat.log.getByText('Details').click();
    await expect(chat.log.getByRole('region', { name: 'Input' })).toBeVisible();
    expect(await violations(chat)).toEqual([]);

    await chat.send(
      JSON.stringify([
        ['stderr', 'words\n', 1],
        ['exit', 3]
      ])
    );
    await chat.log.getByRole('button', { name: 'Show the log' }).click();
    await expect(page.locator('.jp-acp-Log')).toContainText('words');
    expect(await violations(chat, '.jp-Dialog')).toEqual([]);
  });
}

for (const theme of ['JupyterLab Light', 'JupyterLab Dark']) {
  test(`axe finds nothing wrong in changes and prompts in ${theme}`, async ({
    page,
    request
  }) => {
    const agent = await AgentPage.begin(page, request);
    await dress(agent, theme);
    await loadAxe(agent);
    const cells = [code('a', 'x = 1'), code('b', 'y = 1')];
    const kernelspec = { name: 'python3', display_name: 'Python 3' };
    const metadata = { kernelspec };
    const notebook = { nbformat: 4, nbformat_minor: 5, metadata, cells };
    await agent.put('axe.ipynb', notebook);
    await agent.put('axe.py', 'one = 1\ntwo = 2\n');
    await agent.show('axe.ipynb');
    const root = await agent.root();
    const write = (name: string, content: string) => [
      'request',
      'fs/write_text_file',
      { path: `${root}/${name}`, content }
    ];
    await agent.play(
      ['chunk', '[link](axe.py:2) and\n\n```python\nprint(1)\n```\n'],
      write('axe.ipynb', JSON.stringify(notebook).replace('x = 1', 'x = 2')),
      write('axe.py', 'one = 1\ntwo = "two"\nthree = 3\n')
    );
    await expect(agent.log.locator('.cm-content').first()).toBeVisible();
    await agent.input.pressSequentially('@axe');
    await expect(agent.panel.getByRole('listbox')).toBeVisible();
    expect(await violations(agent)).toEqual([]);
    await agent.input.press('Enter');
    await expect(agent.log.locator('.jp-acp-Diff:empty')).toHaveCount(0);
    await agent.panel.getByRole('button', { name: 'Undo all' }).click();
    await expect(agent.panel.getByText('Redo all')).toBeVisible();
    expect(await violations(agent)).toEqual([]);
    await agent.panel.getByRole('button', { name: /Review .*axe.py/ }).click();
    await expect(
      page.locator('.jp-acp-ChangeWidget .cm-line').first()
    ).toBeVisible();
    expect(await violations(agent, '.jp-acp-ChangeWidget')).toEqual([]);
  });
}
