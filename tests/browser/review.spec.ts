// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { type Locator, type Page, expect, test } from './browser';

import { AgentPage } from './agent';
import { ChatPage } from './chat';
import { type INotebook, code } from './documents';

const BEFORE = Array.from({ length: 30 }, (_, n) => `line ${n}\n`).join('');
const AFTER = BEFORE.replace('line 3\n', 'line three\n').replace(
  'line 20\n',
  'line twenty\nand one more\n'
);

function notebook(...cells: ReturnType<typeof code>[]): INotebook {
  return {
    nbformat: 4,
    nbformat_minor: 5,
    metadata: {
      kernelspec: { name: 'python3', display_name: 'Python 3' },
      language_info: { name: 'python' }
    },
    cells
  };
}

/** A cell that was run. */
function printed(id: string, source: string, text: string, count: number) {
  return {
    ...code(id, source),
    outputs: [{ output_type: 'stream', name: 'stdout', text }],
    execution_count: count
  };
}

/** A tool call of an agent that tells what it has written. */
function edited(path: string, oldText: string | null, newText: string) {
  return [
    'update',
    {
      sessionUpdate: 'tool_call',
      toolCallId: `edit-${path}`,
      title: 'Edit a file',
      kind: 'edit',
      status: 'completed',
      content: [{ type: 'diff', path, oldText, newText }]
    }
  ];
}

function written(path: string, content: string) {
  return ['request', 'fs/write_text_file', { path, content }];
}

class Review {
  constructor(private readonly _page: Page) {}

  get changes(): Locator {
    return this._page.locator('#jp-acp-panel .jp-acp-Change');
  }

  get summary(): Locator {
    return this._page.locator('#jp-acp-panel .jp-acp-Summary');
  }

  /** Wait for all of it: an editor that comes later pushes the buttons away. */
  async shows(count: number): Promise<void> {
    await expect(this.changes).toHaveCount(count);
    await expect(this.changes.locator('.jp-acp-Diff:empty')).toHaveCount(0);
  }

  part(name: string): Locator {
    return this.changes.getByRole('region', { name, exact: true });
  }
}

test('one part of a change is undone, another one kept', async ({
  page,
  request,
  context
}) => {
  const agent = await AgentPage.begin(page, request);
  const review = new Review(page);
  await agent.put('parts.txt', BEFORE);
  await agent.show('parts.txt');
  const path = `${await agent.root()}/parts.txt`;
  await agent.play(
    ['chunk', 'in parts'],
    written(path, AFTER),
    edited(path, BEFORE, AFTER)
  );

  // Told by the tool call and noted by the server, but shown once.
  await review.shows(1);
  await expect(review.changes.locator('.cm-line').first()).toBeVisible();
  const first = review.part('Lines 1–7');
  await expect(first).toContainText('line three');
  await expect(first).toContainText('line 3');

  // What was typed since stays.
  const editor = page.locator('.jp-FileEditor .cm-content');
  await editor.click();
  await page.keyboard.press('Control+End');
  await page.keyboard.type('typed');
  await first.getByRole('button', { name: /^Undo/ }).click();
  await expect(first.getByRole('button', { name: /^Redo/ })).toBeVisible();
  await expect(editor).not.toContainText('line three');
  const undone = AFTER.replace('line three', 'line 3');
  expect(await agent.saved('parts.txt')).toBe(`${undone}typed`);

  const second = review.part('Lines 18–25');
  await second.getByRole('button', { name: /^Keep/ }).click();
  await expect(second.getByRole('button', { name: /^Keep/ })).toHaveCount(0);
  expect(await agent.saved('parts.txt')).toBe(`${undone}typed`);

  // Decided once, known everywhere and later.
  await agent.reload();
  await expect(first.getByRole('button', { name: /^Redo/ })).toBeVisible();
  const { page: other, panel } = await ChatPage.open(await context.newPage());
  await panel.getByText('in parts').first().click();
  await expect(
    new Review(other).part('Lines 1–7').getByRole('button', { name: /^Redo/ })
  ).toBeVisible();
  await other.close();

  await first.getByRole('button', { name: /^Redo/ }).click();
  await expect.poll(() => agent.saved('parts.txt')).toBe(`${AFTER}typed`);
});

test('cells of an open notebook are undone one by one', async ({
  page,
  request
}) => {
  const agent = await AgentPage.begin(page, request);
  const review = new Review(page);
  const before = notebook(code('a', 'x = 1'), code('b', 'print(x)'));
  await agent.put('cells.ipynb', before);
  await agent.show('cells.ipynb');
  const path = `${await agent.root()}/cells.ipynb`;
  const after = notebook(
    code('a', 'x = 2'),
    code('new', 'y = 3'),
    code('b', 'print(x)')
  );
  // Without a tool call: what the server has noted is shown.
  await agent.play(written(path, JSON.stringify(after)));
  await expect(agent.cell(1)).toContainText('y = 3');
  await review.shows(1);
  const added = review.part('Cell 2, added');
  await expect(added).toContainText('y = 3');
  const changed = review.part('Cell 1');
  await changed.getByRole('button', { name: /^Undo/ }).click();
  await expect(agent.cell(0)).toContainText('x = 1');
  await expect(agent.cell(1)).toContainText('y = 3');
  await expect(changed.getByRole('button', { name: /^Redo/ })).toBeVisible();
  await added.getByRole('button', { name: /^Undo/ }).click();
  await expect(agent.cell(1)).toContainText('print(x)');
  await expect
    .poll(async () =>
      (await agent.saved<INotebook>('cells.ipynb')).cells.map(
        ({ source }) => source
      )
    )
    .toEqual(['x = 1', 'print(x)']);
});

test('a whole turn is undone and made once more', async ({ page, request }) => {
  const agent = await AgentPage.begin(page, request);
  const review = new Review(page);
  await agent.put('turn.txt', BEFORE);
  const root = await agent.root();
  await agent.play(
    written(`${root}/turn.txt`, AFTER),
    edited(`${root}/turn.txt`, BEFORE, AFTER),
    written(`${root}/made.txt`, 'made\n')
  );
  await expect(review.summary).toContainText('2 files changed');
  await review.shows(2);
  await review.summary.getByRole('button', { name: 'Undo all' }).click();
  // A file that was made would be deleted: that is asked first.
  await expect(page.locator('.jp-Dialog')).toContainText('made.txt');
  await page
    .locator('.jp-Dialog')
    .getByRole('button', { name: 'Delete' })
    .click();
  // One file after the other: all of it is done when the next thing can be asked for.
  const redo = review.summary.getByRole('button', { name: 'Redo all' });
  await expect(redo).toBeEnabled();
  await expect(review.summary.getByText('undone')).toHaveCount(2);
  expect(await agent.saved('turn.txt')).toBe(BEFORE);
  expect((await request.get('/api/contents/made.txt')).status()).toBe(404);
  await redo.click();
  await expect(
    review.summary.getByRole('button', { name: 'Undo all' })
  ).toBeEnabled();
  expect(await agent.saved('turn.txt')).toBe(AFTER);
  expect(await agent.saved('made.txt')).toBe('made\n');
});

test('only what deletes a file is asked about', async ({ page, request }) => {
  const agent = await AgentPage.begin(page, request);
  const review = new Review(page);
  await agent.put('kept.txt', BEFORE);
  const root = await agent.root();
  const made = notebook(code('a', 'x = 1'), code('b', 'y = 2'));
  await agent.play(
    written(`${root}/lone.ipynb`, JSON.stringify(made)),
    written(`${root}/lone.txt`, 'made\n'),
    written(`${root}/kept.txt`, AFTER)
  );
  const dialog = page.locator('.jp-Dialog');
  const undone = (part: Locator): Locator =>
    part.getByRole('button', { name: /^Redo/ });
  await review.shows(3);
  const cell = review.part('Cell 1, added');
  await cell.getByRole('button', { name: /^Undo/ }).click();
  await expect(undone(cell)).toBeVisible();
  await expect(dialog).toHaveCount(0);
  const file = review.changes.filter({ hasText: 'lone.txt' });
  // What was undone before it may still be moving things.
  await expect(async () => {
    if (!(await dialog.isVisible())) {
      const undo = file.getByRole('button', { name: /^Undo/ });
      await undo.click({ timeout: 2000 });
    }
    await expect(dialog).toContainText('lone.txt', { timeout: 2000 });
  }).toPass();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await expect(undone(file)).toBeVisible();
  // Of all that is left, only the notebook would be deleted.
  await review.summary.getByRole('button', { name: 'Undo all' }).click();
  await expect(dialog).toContainText('Delete the file?');
  await expect(dialog).toContainText('lone.ipynb');
  await expect(dialog).not.toContainText('lone.txt');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
});

test('what can no longer be undone is left alone, and said', async ({
  page,
  request
}) => {
  const agent = await AgentPage.begin(page, request);
  const review = new Review(page);
  await agent.put('gone.txt', 'one\n');
  const path = `${await agent.root()}/gone.txt`;
  await agent.play(written(path, 'two\n'));
  await agent.put('gone.txt', 'three\n');
  await review.shows(1);
  await review.changes.getByRole('button', { name: /^Undo/ }).click();
  await expect(agent.panel.getByRole('alert')).toContainText(
    'no longer what this change made of it'
  );
  expect(await agent.saved('gone.txt')).toBe('three\n');
});

test('changes open in the main area: texts side by side, notebooks by cells', async ({
  page,
  request
}) => {
  const agent = await AgentPage.begin(page, request);
  const review = new Review(page);
  const before = notebook(code('a', 'x = 1'), code('b', 'print(x)'));
  const after = notebook(code('a', 'x = 2'), code('b', 'print(x)'));
  await agent.put('wide.py', BEFORE);
  await agent.put('wide.ipynb', before);
  const root = await agent.root();
  await agent.play(
    written(`${root}/wide.py`, AFTER),
    written(`${root}/wide.ipynb`, JSON.stringify(after))
  );
  const open = (name: string) =>
    review.summary.getByRole('button', {
      name: new RegExp(`Review .*${name}`)
    });
  await review.shows(2);
  await open('wide.py').click();
  const tab = page.locator('.jp-acp-ChangeWidget:not(.lm-mod-hidden)');
  await expect(tab.locator('.cm-mergeViewEditor')).toHaveCount(2);
  await expect(tab).toContainText('unchanged lines');
  await tab.getByLabel('Show only changes').uncheck();
  await expect(tab).not.toContainText('unchanged lines');
  await tab.getByLabel('Layout').selectOption('unified');
  await expect(tab.locator('.cm-deletedChunk').first()).toBeVisible();
  await tab.getByRole('button', { name: /^Undo: Lines 1–7/ }).click();
  await expect
    .poll(() => agent.saved('wide.py'))
    .toBe(AFTER.replace('line three', 'line 3'));
  await expect(
    tab.getByRole('button', { name: /^Redo: Lines 1–7/ })
  ).toBeVisible();
  await open('wide.ipynb').click();
  await expect(tab.locator('.jp-Cell-diff').first()).toBeVisible();
  await expect(tab).toContainText('x = 2');
});

test('a notebook in a tab shows what became of outputs and metadata', async ({
  page,
  request
}) => {
  const agent = await AgentPage.begin(page, request);
  const review = new Review(page);
  const before = notebook(
    printed('a', 'x = 1', 'old output', 1),
    printed('b', 'y = 2', 'same output', 2)
  );
  const after = notebook(
    { ...printed('a', 'x = 1', 'new output', 3), metadata: { tags: ['slow'] } },
    printed('b', 'y = 2', 'same output', 2)
  );
  const path = '/outputs.ipynb';
  await agent.play(edited(path, JSON.stringify(before), JSON.stringify(after)));
  await review.changes.getByTitle('Open the change in a tab').click();
  const cells = page.locator('.jp-acp-ChangeWidget .jp-Cell-diff');
  await expect(cells).toHaveCount(2);
  const [changed, same] = [cells.first(), cells.last()];
  await expect(changed).toHaveClass(/jp-Diff-twoway/);
  await expect(changed).toContainText('In [1]:');
  await expect(changed).toContainText('In [3]:');
  await expect(changed.locator('.jp-Diff-deleted')).toContainText('old output');
  await expect(changed.locator('.jp-Diff-added')).toContainText('new output');
  await changed.getByText('Metadata changed').click();
  await expect(changed.getByText('"slow"')).toBeVisible();
  await expect(same).toHaveClass(/jp-Diff-unchanged/);
  await expect(same).toContainText('Outputs unchanged');
  await page.screenshot({ path: test.info().outputPath('outputs.png') });
});

test('tabs with changes come back after a reload, unless the change is gone', async ({
  page,
  request
}) => {
  const agent = await AgentPage.begin(page, request);
  const review = new Review(page);
  await agent.play(
    edited('/first.txt', BEFORE, AFTER),
    edited('/second.ipynb', null, JSON.stringify(notebook(code('a', 'x = 1'))))
  );
  await review.shows(2);
  const open = review.changes.getByTitle('Open the change in a tab');
  await open.first().click();
  await open.last().click();
  const tabs = page.locator('#jp-main-dock-panel .lm-TabBar-tab');
  const shown = page.locator('.jp-acp-ChangeWidget:not(.lm-mod-hidden)');
  await expect(shown.locator('.jp-Cell-diff')).toHaveCount(1);
  const listed = await request.get('/acp/sessions');
  const { sessions } = (await listed.json()) as {
    sessions: { id: string; agent: string }[];
  };
  const { id } = sessions.find(({ agent }) => agent === 'scripted')!;
  await agent.execute('jupyter-acp-bridge:open-change', {
    session: id,
    change: 'no such change'
  });
  // It is gone without a word.
  await expect(tabs.filter({ hasText: 'Changes' })).toHaveCount(2);
  await expect(page.locator('.Toastify__toast')).toHaveCount(0);
  await agent.reloadAs(saved =>
    /"widgets":\s*\[([^\]]*"jupyter-acp-bridge-changes:){2}/.test(saved)
  );
  await expect(tabs.filter({ hasText: 'Changes: second.ipynb' })).toHaveCount(
    1
  );
  await expect(shown.locator('.jp-Cell-diff')).toHaveCount(1);
  await tabs.filter({ hasText: 'Changes: first.txt' }).click();
  await expect(shown).toContainText('line three');
  await shown.getByRole('button', { name: /^Keep: Lines 1–7/ }).click();
  await expect(
    shown.getByRole('button', { name: /^Keep: Lines 1–7/ })
  ).toHaveCount(0);
  // With the session, they go.
  await request.delete(`/acp/sessions/${id}`);
  await expect(tabs.filter({ hasText: 'Changes' })).toHaveCount(0);
});
