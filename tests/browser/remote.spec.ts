// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from './browser';

import { code } from './documents';
import { RemotePage, Repository } from './remote';

const NOTEBOOK = JSON.stringify({
  nbformat: 4,
  nbformat_minor: 5,
  metadata: {
    kernelspec: { name: 'python3', display_name: 'Python 3' },
    language_info: { name: 'python' }
  },
  cells: [code('a', 'x = 1'), code('b', 'print(x)')]
});

test('work that is only here goes along, and what comes back is reviewed, merged and undone', async ({
  page,
  request
}) => {
  const chat = await RemotePage.begin(page, request);
  const repository = new Repository(await chat.root(), 'merged', {
    'notes.txt': 'one\n'
  });
  repository.commit({ 'committed.txt': 'only here\n' });
  repository.write({ 'draft.txt': 'not even committed\n' });
  await chat.show(`${repository.folder}/notes.txt`);
  const editor = page.locator('.jp-FileEditor .cm-content');
  await expect(editor).toContainText('one');

  await chat.prepare(repository.folder);
  await expect(chat.setup).toContainText(repository.url);
  await expect(chat.setup).toContainText('main');
  const head = repository.git('rev-parse', 'HEAD');
  await expect(chat.setup.getByTitle(head)).toHaveText(head.slice(0, 10));
  await expect(chat.choice('Current state of the remote')).toBeVisible();
  await expect(chat.choice('Push 1 commit first')).toBeVisible();
  const everything = chat.choice('Push 1 commit and 1 uncommitted file first');
  // New files may be anything: whether they leave this machine is asked.
  await expect(everything).not.toBeChecked();
  await expect(
    chat.setup.getByRole('button', { name: 'Start' })
  ).toBeDisabled();
  await chat.choice('Current state of the remote').check();
  const there = repository.git('rev-parse', 'origin/main');
  await expect(chat.setup.getByTitle(there)).toHaveText(there.slice(0, 10));
  await everything.check();
  await expect(chat.setup).toContainText('also 1 untracked file');
  await chat.setup.getByText('1 uncommitted file', { exact: true }).click();
  await expect(chat.setup.getByRole('list')).toContainText('draft.txt');
  // Looked for in each frame: it may be there for a few only.
  const progress = page.waitForFunction(() =>
    document.querySelector('.jp-acp-GitProgress [role=progressbar]')
  );
  await chat.start();
  await progress;
  // What was sent went nowhere but to a branch of its own.
  expect(repository.git('status', '--porcelain')).toBe('?? draft.txt');
  expect(repository.git('rev-parse', 'HEAD')).toBe(head);

  const card = await chat.work(
    1,
    ['write', 'notes.txt', 'one\ntwo\n'],
    ['write', 'cells.ipynb', NOTEBOOK],
    ['write', 'picture.bin', '\0\0\0'],
    ['chunk', 'done']
  );
  await expect(card).toContainText('1 commit');
  await expect(card).toContainText('3 files changed');
  expect(repository.files).not.toContain('cells.ipynb');
  await card.getByRole('button', { name: /Modified notes\.txt/ }).click();
  await expect(card.locator('.cm-changedLine').last()).toHaveText('two');
  await card.getByRole('button', { name: /Added cells\.ipynb/ }).click();
  await expect(
    card.getByRole('region', { name: 'Cell 1, added' })
  ).toContainText('x = 1');
  await card.getByRole('button', { name: /Added picture\.bin/ }).click();
  await expect(card).toContainText('Not a text.');
  await card
    .getByRole('button', { name: 'Open the change of cells.ipynb in a tab' })
    .click();
  await expect(page.locator('.jp-Cell-diff').first()).toBeVisible();
  await chat.show(`${repository.folder}/notes.txt`);

  // The result has the draft as it was sent; here it is nowhere but in its file.
  await chat.act(card, 'Merge');
  await expect(card.getByRole('alert')).toContainText('draft.txt');
  repository.git('stash', '--include-untracked');
  await chat.act(card, 'Merge');
  await expect(card.getByRole('status').first()).toHaveText('merged');
  await expect(
    card.getByRole('button', { name: 'Commits and files' })
  ).toBeVisible();
  expect(repository.read('notes.txt')).toBe('one\ntwo\n');
  expect(repository.read('draft.txt')).toBe('not even committed\n');
  expect(repository.files).toContain('cells.ipynb');
  await expect(editor).toContainText('two', { timeout: 30_000 });

  await card.getByRole('button', { name: 'Undo', exact: true }).click();
  await expect(card.getByRole('status').first()).toHaveText('ready for review');
  expect(repository.read('notes.txt')).toBe('one\n');
  expect(repository.git('rev-parse', 'HEAD')).toBe(head);
  repository.git('stash', 'pop');
  expect(repository.read('draft.txt')).toBe('not even committed\n');
  await expect(editor).not.toContainText('two', { timeout: 30_000 });
});

test('several results are kept, over a reload, and each is decided about alone', async ({
  page,
  request
}) => {
  const chat = await RemotePage.begin(page, request);
  const repository = new Repository(await chat.root(), 'several', {
    'a.txt': 'a\n'
  });
  await chat.startOn(repository);
  const first = await chat.work(1, ['write', 'b.txt', 'b\n']);

  await chat.act(first, 'Discard');
  await expect(first).toContainText('Discard this result?');
  await page.keyboard.press('Escape');
  await expect(first).not.toContainText('Discard this result?');
  await expect(
    first.getByRole('button', { name: 'Discard: result 1' })
  ).toBeFocused();
  await chat.act(first, 'Discard');
  await first.getByRole('button', { name: 'Discard', exact: true }).click();
  await expect(first.getByRole('status').first()).toHaveText('discarded');
  expect(repository.files).toEqual(['a.txt']);
  // It is still where it was fetched from.
  await first.getByRole('button', { name: 'Fetch Again' }).click();
  await expect(first.getByRole('status').first()).toHaveText(
    'ready for review'
  );
  await chat.act(first, 'Discard');
  await first.getByRole('button', { name: 'Discard', exact: true }).click();
  await expect(first.getByRole('status').first()).toHaveText('discarded');

  const second = await chat.work(2, ['write', 'c.txt', 'c\n']);
  await chat.reload();
  await expect(first.getByRole('status').first()).toHaveText('discarded');
  await expect(second.getByRole('status').first()).toHaveText(
    'ready for review'
  );

  await chat.act(second, 'Check Out as a Branch');
  const name = second.getByLabel('Branch name', { exact: true });
  await expect(name).toBeFocused();
  await expect(name).toHaveValue(/^acp\//);
  await name.fill('from-elsewhere');
  await name.press('Enter');
  await expect(second.getByRole('status').first()).toHaveText('checked out');
  expect(repository.git('symbolic-ref', '--short', 'HEAD')).toBe(
    'from-elsewhere'
  );
  expect(repository.read('c.txt')).toBe('c\n');

  // The list tells it from the others, and is searched by its repository.
  await chat.button('Sessions and agents').click();
  await chat.panel.getByRole('searchbox').fill('origin main');
  const row = chat.panel
    .locator('.jp-acp-Session')
    .filter({ has: page.getByRole('img', { name: /^Remote session on / }) })
    .first();
  await expect(row).toContainText('Scripted · origin');
  await expect(
    row.getByRole('img', { name: 'Remote session on main' })
  ).toBeVisible();
});

test('what would harm the files here is refused and explained', async ({
  page,
  request
}) => {
  const chat = await RemotePage.begin(page, request);
  const repository = new Repository(await chat.root(), 'refused', {
    'a.txt': 'a\n',
    'b.txt': 'b\n'
  });
  await chat.startOn(repository);
  const card = await chat.work(1, ['write', 'a.txt', 'from elsewhere\n']);
  repository.write({ 'a.txt': 'mine\n' });
  await chat.act(card, 'Merge');
  await expect(card.getByRole('alert')).toContainText('a.txt');
  await expect(card.getByRole('status').first()).toHaveText('ready for review');
  await expect(
    card.getByRole('button', { name: 'Merge: result 1' })
  ).toBeEnabled();
  expect(repository.read('a.txt')).toBe('mine\n');

  repository.git('checkout', '--', 'a.txt');
  await chat.act(card, 'Apply to Working Tree');
  await expect(card.getByRole('status').first()).toHaveText('applied');
  await expect(card.getByRole('alert')).toHaveCount(0);
  expect(repository.read('a.txt')).toBe('from elsewhere\n');
  expect(repository.git('rev-list', '--count', 'HEAD')).toBe('1');
});

test('what is no repository, or has no remote, is explained', async ({
  page,
  request
}) => {
  const chat = await RemotePage.begin(page, request);
  const root = await chat.root();
  mkdirSync(join(root, 'plain'));
  const repository = new Repository(root, 'lonely', { 'a.txt': 'a\n' });
  repository.git('remote', 'remove', 'origin');
  const start = chat.setup.getByRole('button', { name: 'Start' });

  await chat.execute('filebrowser:refresh');
  await page
    .locator('.jp-DirListing-item', { hasText: 'plain' })
    .click({ button: 'right' });
  await page
    .getByRole('menuitem', { name: 'New Remote Session for This Folder…' })
    .click();
  await expect(chat.folder).toHaveValue('plain');
  await expect(chat.setup.getByRole('alert')).toContainText(/repository/);
  await expect(start).toBeDisabled();
  await chat.folder.fill(repository.folder);
  await chat.folder.press('Enter');
  await expect(chat.setup).toContainText('no remote');
  await expect(start).toBeDisabled();

  // Mended elsewhere, seen here.
  repository.git('remote', 'add', 'origin', repository.url);
  await chat.button('Refresh').click();
  await expect(start).toBeEnabled();
  await chat.setup.getByRole('button', { name: 'Cancel' }).click();
  await expect(chat.setup).toHaveCount(0);
  await expect(chat.input).toBeVisible();
});

test('a start that takes long can be left alone, found again and cancelled', async ({
  page,
  request
}) => {
  const chat = await RemotePage.begin(page, request);
  const repository = new Repository(await chat.root(), 'slowly', {
    'a.txt': 'a\n'
  });
  await chat.prepare(repository.folder);
  await chat.setup
    .getByRole('combobox', { name: 'Agent' })
    .selectOption('late');
  await chat.setup.getByRole('button', { name: 'Start' }).click();
  await expect(chat.setup.getByRole('progressbar')).toBeVisible();
  await chat.button('Sessions and agents').click();
  await expect(chat.panel).toContainText('A remote session is being started.');
  await chat.panel.getByRole('button', { name: 'Show', exact: true }).click();
  await chat.setup.getByRole('button', { name: 'Cancel' }).click();
  await expect(chat.setup.getByRole('progressbar')).toHaveCount(0);
  await expect(chat.setup.getByRole('button', { name: 'Start' })).toBeEnabled();
  await expect(chat.setup.getByRole('alert')).toHaveCount(0);
});
