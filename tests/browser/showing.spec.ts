// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { type Locator, type Page, expect, test } from './browser';

import { AgentPage } from './agent';
import { Tools, notebook } from './tools';

const LINES = Array.from({ length: 300 }, (_, n) => `line_${n + 1} = ${n}`);
const SOURCES = Array.from({ length: 60 }, (_, n) => `cell_${n} = ${n}\n\n\n`);

function line(page: Page, number: number): Locator {
  return page
    .locator('.jp-FileEditor .cm-line')
    .filter({ hasText: new RegExp(`^line_${number} = `) });
}

/** Whether something is inside of what can be seen of the document. */
async function isSeen(what: Locator): Promise<void> {
  await expect(what).toBeInViewport();
}

/** How often an element loses the focus from now on. */
async function watchFocus(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(() => {
    const counter = window as unknown as { lost: number };
    counter.lost = 0;
    document.activeElement!.addEventListener('blur', () => counter.lost++);
  });
  return () =>
    page.evaluate(() => (window as unknown as { lost: number }).lost);
}

test('a document is shown while the user writes to the agent', async ({
  page,
  request
}) => {
  const agent = await AgentPage.begin(page, request);
  await agent.put('long.py', LINES.join('\n'));
  await agent.put('long.ipynb', notebook('python3', ...SOURCES));
  await agent.put('other.py', '');
  const tools = await Tools.of(agent);
  await agent.show('other.py');
  await agent.input.click();
  await page.keyboard.insertText('I am');
  const lost = await watchFocus(page);

  const shown = await tools.text('show_document', {
    path: 'long.py',
    line: 200
  });
  expect(shown).toContain('The user sees it now.');
  await isSeen(line(page, 200));
  await tools.text('show_document', { path: 'long.py', line: 20 });
  await isSeen(line(page, 20));

  await tools.text('show_document', {
    path: 'long.ipynb',
    cell_id: 'cell-50'
  });
  const cell = page
    .locator('.jp-NotebookPanel .jp-Cell')
    .filter({ hasText: 'cell_50 = 50' });
  await isSeen(cell);
  await expect(cell).toHaveClass(/jp-mod-active/);

  // What is open already comes to the front.
  await tools.text('show_document', { path: 'long.py', line: 20 });
  await isSeen(line(page, 20));
  await page.keyboard.insertText(' typing');
  await expect(agent.input).toHaveText('I am typing');
  expect(await lost()).toBe(0);

  const [none, nowhere] = await tools.call(
    ['show_document', { path: 'missing.py' }],
    ['show_document', { path: 'long.ipynb', cell_id: 'nope' }]
  );
  expect(none.text).toContain('There is no file');
  expect(nowhere.text).toContain('There is no cell nope');
  await expect(page.locator('.jp-Dialog')).toHaveCount(0);
});

test('a document is shown beside the one that the user types in', async ({
  page,
  request
}) => {
  const agent = await AgentPage.begin(page, request);
  await agent.put('beside.py', LINES.join('\n'));
  await agent.put('behind.py', 'here = 1\n');
  await agent.put('mine.md', '');
  const tools = await Tools.of(agent);
  await agent.show('behind.py');
  await agent.show('mine.md');
  const mine = page.getByRole('tabpanel', { name: 'mine.md' });
  await mine.getByRole('textbox').click();
  await page.keyboard.insertText('I am');
  const lost = await watchFocus(page);

  await tools.text('show_document', { path: 'beside.py', line: 250 });
  await isSeen(line(page, 250));
  const [behind] = await tools.call(['show_document', { path: 'behind.py' }]);
  expect(behind.text).toContain('in a tab behind');
  await page.keyboard.insertText(' typing');
  const typed = page.locator('.cm-content').filter({ hasText: 'I am typing' });
  await isSeen(typed);
  expect(await lost()).toBe(0);
});
