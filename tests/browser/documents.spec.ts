// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { type APIRequestContext, expect, test } from './browser';

import { type ICell, type INotebook, DocumentsPage, code } from './documents';

async function put(
  request: APIRequestContext,
  path: string,
  content: string | INotebook
): Promise<void> {
  const data =
    typeof content === 'string'
      ? { type: 'file', format: 'text', content }
      : { type: 'notebook', format: 'json', content };
  const response = await request.put(`/api/contents/${path}`, { data });
  expect(response.ok()).toBe(true);
}

async function onDisk(
  request: APIRequestContext,
  path: string
): Promise<unknown> {
  const response = await request.get(`/api/contents/${path}`);
  return ((await response.json()) as { content: unknown }).content;
}

/** As the server knows the file now. */
async function hashOf(
  request: APIRequestContext,
  path: string
): Promise<string> {
  const response = await request.get(`/api/contents/${path}?content=0&hash=1`);
  return ((await response.json()) as { hash: string }).hash;
}

function notebook(...cells: ICell[]): INotebook {
  return {
    nbformat: 4,
    nbformat_minor: 5,
    metadata: { kernelspec: { name: 'python3', display_name: 'Python 3' } },
    cells
  };
}

const ABC = notebook(
  code('a', 'one = 1'),
  code('b', 'two = 2\nprint(two)'),
  code('c', 'print("three")')
);

test.describe('a text file', () => {
  const lines = Array.from({ length: 300 }, (_, n) => `line_${n} = ${n}`);
  const changed = [...lines];
  changed[4] = 'line_4 = "four"';
  changed.splice(10, 0, '# put in', '# and again');
  changed[250] = 'replaced()';

  test('is changed in place, and back with one undo', async ({
    page,
    request
  }) => {
    await put(request, 'place.py', lines.join('\n'));
    const documents = await DocumentsPage.open(page, 'place.py');
    await documents.file.goto(150, 3);
    const before = await documents.file.look();

    const { version } = await documents.read('place.py');
    await documents.write('place.py', version, changed.join('\n'));
    expect(await documents.file.text()).toBe(changed.join('\n'));
    const after = await documents.file.look();
    expect(after).toEqual({
      ...before,
      line: before.line + 2,
      top: expect.any(Number)
    });
    expect(Math.abs(after.top - before.top)).toBeLessThanOrEqual(2);
    expect(await documents.isDirty()).toBe(true);

    await page.keyboard.press('Control+z');
    expect(await documents.file.text()).toBe(lines.join('\n'));
    await page.keyboard.press('Control+Shift+z');
    expect(await documents.file.text()).toBe(changed.join('\n'));
  });

  test('keeps what was typed a moment ago apart from it', async ({
    page,
    request
  }) => {
    await put(request, 'typed.py', 'a = 1\nb = 2\n');
    const documents = await DocumentsPage.open(page, 'typed.py');
    await documents.file.goto(2, 0);
    await page.keyboard.insertText('# mine');
    const { version, content, dirty } = await documents.read('typed.py');
    expect(dirty).toBe(true);
    expect(content).toBe('a = 1\nb = 2\n# mine');
    await documents.write('typed.py', version, 'a = 10\nb = 2\n# mine');
    await page.keyboard.press('Control+z');
    expect(await documents.file.text()).toBe('a = 1\nb = 2\n# mine');
    await page.keyboard.press('Control+z');
    expect(await documents.file.text()).toBe('a = 1\nb = 2\n');
  });

  test('is left alone once the user has changed it', async ({
    page,
    request
  }) => {
    await put(request, 'mine.txt', 'one\n');
    const documents = await DocumentsPage.open(page, 'mine.txt');
    const { version } = await documents.read('mine.txt');
    await documents.file.goto(1, 0);
    await page.keyboard.type('two');
    const refused = await documents.write('mine.txt', version, 'ONE\n');
    expect(refused.conflict).toBe(true);
    expect(await documents.file.text()).toBe('one\ntwo');
    const again = await documents.read('mine.txt');
    expect(again.version).toBe(refused.version);
    const done = await documents.write('mine.txt', again.version, 'ONE\ntwo');
    expect(done.conflict).toBeUndefined();
    const unknown = await documents.write('mine.txt', 'no such one', 'x');
    expect(unknown).toEqual({ conflict: true, version: done.version });
    expect(await documents.file.text()).toBe('ONE\ntwo');
  });

  test('keeps its line ends when it is saved', async ({ page, request }) => {
    await put(request, 'windows.txt', 'one\r\ntwo\r\n');
    const documents = await DocumentsPage.open(page, 'windows.txt');
    const { version, content } = await documents.read('windows.txt');
    expect(content).toBe('one\ntwo\n');
    const wanted = 'one\r\n2\r\nthree\r\n';
    await documents.write('windows.txt', version, wanted, { save: true });
    expect(await onDisk(request, 'windows.txt')).toBe(wanted);
    expect(await documents.file.text()).toBe('one\n2\nthree\n');
  });

  test('is saved with no question, and again by the user', async ({
    page,
    request
  }) => {
    await put(request, 'saved.txt', 'one\n');
    const documents = await DocumentsPage.open(page, 'saved.txt');
    const { version } = await documents.read('saved.txt');
    await documents.write('saved.txt', version, 'two\n', { save: true });
    expect(await onDisk(request, 'saved.txt')).toBe('two\n');
    expect(await documents.isDirty()).toBe(false);
    await documents.file.goto(1, 0);
    await page.keyboard.type('three');
    await documents.saveByUser();
    expect(await onDisk(request, 'saved.txt')).toBe('two\nthree');
    await documents.hasNoDialog();
  });

  test('takes over what others wrote to disk', async ({ page, request }) => {
    await put(request, 'merged.txt', 'one\ntwo\n');
    const documents = await DocumentsPage.open(page, 'merged.txt');
    await put(request, 'merged.txt', 'ONE\ntwo\n');
    const first = await documents.read('merged.txt');
    // What is on disk is not what the document is of: nothing is saved over it.
    await expect(
      documents.ask('save', { path: 'merged.txt' })
    ).rejects.toMatchObject({ code: -32603, message: /changed on disk/ });

    const { version } = await documents.write(
      'merged.txt',
      first.version,
      'ONE\ntwo\n',
      { onDisk: { hash: await hashOf(request, 'merged.txt'), dirty: false } }
    );
    expect(await documents.isDirty()).toBe(false);
    await put(request, 'merged.txt', 'ONE\nTWO\n');
    await documents.write('merged.txt', version, 'ONE\nTWO\nmine\n', {
      onDisk: { hash: await hashOf(request, 'merged.txt'), dirty: true }
    });
    expect(await documents.isDirty()).toBe(true);
    await documents.saveByUser();
    expect(await onDisk(request, 'merged.txt')).toBe('ONE\nTWO\nmine\n');
    await documents.hasNoDialog();
  });

  test('notices what was written after the merge', async ({
    page,
    request
  }) => {
    await put(request, 'twice.txt', 'one\n');
    const documents = await DocumentsPage.open(page, 'twice.txt');
    const first = await documents.read('twice.txt');
    expect(first.fileHash).toBe(await hashOf(request, 'twice.txt'));
    await put(request, 'twice.txt', 'two\n');
    const hash = await hashOf(request, 'twice.txt');
    await put(request, 'twice.txt', 'three\n');
    await documents.write('twice.txt', first.version, 'two\n', {
      onDisk: { hash, dirty: false }
    });
    expect((await documents.read('twice.txt')).fileHash).toBe(hash);
    await expect(
      documents.ask('save', { path: 'twice.txt' })
    ).rejects.toMatchObject({ message: /changed on disk/ });
    expect(await onDisk(request, 'twice.txt')).toBe('three\n');
  });

  test('stays changed when it cannot be saved', async ({ page, request }) => {
    await put(request, 'full.txt', 'one\n');
    const documents = await DocumentsPage.open(page, 'full.txt');
    const { version } = await documents.read('full.txt');
    await page.route('**/api/contents/full.txt*', route =>
      route.request().method() === 'PUT'
        ? route.fulfill({ status: 507, json: { message: 'The disk is full' } })
        : route.continue()
    );
    await expect(
      documents.write('full.txt', version, 'two\n', { save: true })
    ).rejects.toMatchObject({ message: /its file was not: .*disk is full/ });
    expect(await documents.file.text()).toBe('two\n');
    expect(await documents.isDirty()).toBe(true);
  });

  test('cannot be changed where it must not or does not exist', async ({
    page,
    request
  }) => {
    await put(request, 'only.txt', 'x');
    const documents = await DocumentsPage.open(page, 'only.txt');
    const bad = (params: object) => documents.ask('write', params);
    const { version } = await documents.read('only.txt');
    const fine = { path: 'only.txt', format: 'text', content: 'y', version };
    await expect(documents.read('closed.txt')).rejects.toMatchObject({
      code: -32002
    });
    for (const wrong of [
      { path: 3 },
      { format: 'html' },
      { content: {} },
      { version: undefined },
      { save: 'yes' },
      { onDisk: {} },
      { onDisk: { dirty: false } }
    ]) {
      await expect(bad({ ...fine, ...wrong })).rejects.toMatchObject({
        code: -32602
      });
    }
    await expect(
      bad({ ...fine, format: 'notebook', content: {} })
    ).rejects.toMatchObject({ code: -32002 });
    await documents.setReadOnly();
    await expect(bad(fine)).rejects.toMatchObject({ message: /read-only/ });
    expect(await documents.file.text()).toBe('x');
  });
});

test.describe('a notebook', () => {
  test('has one cell rewritten, all else stays', async ({ page, request }) => {
    await put(request, 'cells.ipynb', ABC);
    const documents = await DocumentsPage.open(page, 'cells.ipynb');
    const { cells } = documents;
    await cells.run();
    await expect(await cells.output('c')).toHaveText('three\n');
    await cells.edit('a', '# unsaved\n');
    await cells.mark();

    const { content, version, format } = await documents.readNotebook();
    expect(format).toBe('notebook');
    expect(content.cells[0]).toMatchObject({ source: '# unsaved\none = 1' });
    expect(content.cells[2]).toMatchObject({
      outputs: [{ output_type: 'stream', name: 'stdout', text: 'three\n' }],
      metadata: {}
    });
    content.cells[1].source = 'two = 22\nprint(two)\nprint("more")';
    await documents.write('cells.ipynb', version, content);
    expect(await cells.sources()).toEqual({
      a: '# unsaved\none = 1',
      b: 'two = 22\nprint(two)\nprint("more")',
      c: 'print("three")'
    });
    expect(await cells.marked()).toEqual(['a', 'b', 'c']);
    await expect(await cells.output('b')).toHaveText('2\n');
    await expect(await cells.prompt('b')).toHaveText('[2]:');

    await cells.edit('b', '');
    await page.keyboard.press('Control+z');
    expect((await cells.sources()).b).toBe('two = 2\nprint(two)');
    await cells.edit('a', '');
    await page.keyboard.press('Control+z');
    expect((await cells.sources()).a).toBe('one = 1');
  });

  test('of a format without ids is changed cell by cell, too', async ({
    page,
    request
  }) => {
    const old = {
      ...ABC,
      nbformat_minor: 4,
      cells: ABC.cells.map(({ id: _, ...cell }) => cell)
    };
    await put(request, 'old.ipynb', old);
    const documents = await DocumentsPage.open(page, 'old.ipynb');
    const { cells } = documents;
    await cells.run();
    const ids = Object.keys(await cells.sources());
    const [a, b, c] = ids;
    await expect(await cells.output(c)).toHaveText('three\n');
    await cells.mark();

    const { content, version } = await documents.readNotebook();
    expect(content.nbformat_minor).toBe(4);
    expect(content.cells.map(({ id }) => id)).toEqual(ids);
    // By its text alone, the first would be taken for another cell.
    content.cells[0].source = 'print("three")';
    content.cells[1].source = 'two = 22';
    const done = await documents.write('old.ipynb', version, content, {
      save: true
    });
    expect(done.conflict).toBeUndefined();
    expect(await cells.sources()).toEqual({
      [a]: 'print("three")',
      [b]: 'two = 22',
      [c]: 'print("three")'
    });
    expect(await cells.marked()).toEqual(ids);
    await expect(await cells.output(b)).toHaveText('2\n');
    await expect(await cells.output(c)).toHaveText('three\n');
    const saved = (await onDisk(request, 'old.ipynb')) as INotebook;
    expect(saved).toMatchObject({
      nbformat_minor: 4,
      cells: [
        { source: 'print("three")' },
        { source: 'two = 22', outputs: [{ text: '2\n' }] },
        { source: 'print("three")', outputs: [{ text: 'three\n' }] }
      ]
    });
    expect(saved.cells.filter(cell => 'id' in cell)).toEqual([]);

    await cells.edit(b, '');
    await page.keyboard.press('Control+z');
    expect((await cells.sources())[b]).toBe('two = 2\nprint(two)');

    // Cells that are put in and moved keep theirs as well, but not on disk.
    const later = await documents.readNotebook();
    later.content.cells = [
      later.content.cells[2],
      code('n', 'new = 1'),
      ...later.content.cells.slice(0, 2)
    ];
    await documents.write('old.ipynb', later.version, later.content, {
      save: true
    });
    expect(Object.keys(await cells.sources())).toEqual([c, 'n', a, b]);
    expect(await cells.marked()).toEqual([a, b]);
    await expect(await cells.output(c)).toHaveText('three\n');
    const again = (await onDisk(request, 'old.ipynb')) as INotebook;
    expect(again.nbformat_minor).toBe(4);
    expect(again.cells.filter(cell => 'id' in cell)).toEqual([]);
    await documents.execute('notebook:undo-cell-action');
    expect(Object.keys(await cells.sources())).toEqual(ids);
    await documents.hasNoDialog();
  });

  test('has cells put in, taken out and moved, and back with one undo', async ({
    page,
    request
  }) => {
    await put(request, 'order.ipynb', ABC);
    const documents = await DocumentsPage.open(page, 'order.ipynb');
    const { cells } = documents;
    await cells.run();
    await expect(await cells.output('c')).toHaveText('three\n');
    await cells.mark();
    const { content, version } = await documents.readNotebook();
    const [a, b, c] = content.cells;
    const text = {
      id: 't',
      cell_type: 'markdown',
      source: '# T',
      metadata: {}
    };
    content.cells = [c, text, b, code('n', 'new = 1')];
    expect(a.id).toBe('a');
    await documents.write('order.ipynb', version, content, { save: true });
    expect(Object.keys(await cells.sources())).toEqual(['c', 't', 'b', 'n']);
    await expect(await cells.output('b')).toHaveText('2\n');
    await expect(await cells.output('c')).toHaveText('three\n');
    expect(await cells.marked()).toHaveLength(1);
    const saved = (await onDisk(request, 'order.ipynb')) as INotebook;
    expect(saved.cells.map(each => each.id)).toEqual(['c', 't', 'b', 'n']);
    expect(await documents.isDirty()).toBe(false);

    await documents.execute('notebook:undo-cell-action');
    expect(Object.keys(await cells.sources())).toEqual(['a', 'b', 'c']);
    await expect(await cells.output('c')).toHaveText('three\n');
    await documents.hasNoDialog();
  });

  test('comes back with one undo for all cells, where that is set', async ({
    page,
    request
  }) => {
    const setting = '/lab/api/settings/@jupyterlab/notebook-extension:tracker';
    const set = async (raw: string): Promise<void> => {
      expect((await request.put(setting, { data: { raw } })).ok()).toBe(true);
    };
    await set('{"documentWideUndoRedo": true}');
    try {
      await put(request, 'wide.ipynb', ABC);
      const documents = await DocumentsPage.open(page, 'wide.ipynb');
      const { cells } = documents;
      const before = await cells.sources();
      const { content, version } = await documents.readNotebook();
      content.cells[0].source = 'one = 11';
      content.cells[1].source = 'two = 22';
      content.cells.splice(1, 0, code('n', 'new = 1'));
      await documents.write('wide.ipynb', version, content);
      expect(await cells.sources()).toEqual({
        a: 'one = 11',
        n: 'new = 1',
        b: 'two = 22',
        c: 'print("three")'
      });
      await documents.execute('notebook:undo-cell-action');
      expect(await cells.sources()).toEqual(before);
    } finally {
      await set('{}');
    }
  });

  test('has the type, metadata and outputs of cells changed', async ({
    page,
    request
  }) => {
    await put(request, 'fields.ipynb', ABC);
    const documents = await DocumentsPage.open(page, 'fields.ipynb');
    const { cells } = documents;
    // What the user has run is trusted, what others say it printed is not.
    await cells.run();
    await expect(await cells.output('c')).toHaveText('three\n');
    await cells.mark();
    const { content, version } = await documents.readNotebook();
    const script = '<img src=x onerror="window.owned = 1"><b>html</b>';
    Object.assign(content.cells[0], { cell_type: 'markdown', source: '# One' });
    content.cells[1].metadata = { tags: ['t'], trusted: true };
    Object.assign(content.cells[2], {
      metadata: { trusted: true },
      execution_count: 7,
      outputs: [
        {
          output_type: 'display_data',
          metadata: {},
          data: { 'text/html': script }
        }
      ]
    });
    content.metadata.title = 'T';
    await documents.write('fields.ipynb', version, content, { save: true });
    await expect(page.getByRole('heading', { name: 'One' })).toBeVisible();
    await expect((await cells.output('c')).getByText('html')).toBeVisible();
    await expect(await cells.prompt('c')).toHaveText('[7]:');
    expect(await cells.marked()).toEqual(['b', 'c']);
    expect(await page.evaluate(() => 'owned' in window)).toBe(false);
    expect(await onDisk(request, 'fields.ipynb')).toMatchObject({
      metadata: { title: 'T' },
      cells: [
        { id: 'a', cell_type: 'markdown' },
        { metadata: { tags: ['t'] } },
        { outputs: [{ data: { 'text/html': script } }] }
      ]
    });
  });

  test('is left alone where the user has typed', async ({ page, request }) => {
    await put(request, 'both.ipynb', ABC);
    const documents = await DocumentsPage.open(page, 'both.ipynb');
    const { cells } = documents;
    const { content, version } = await documents.readNotebook();
    await cells.edit('b', '# mine\n');
    const change = (index: number) => {
      const wanted = structuredClone(content);
      wanted.cells[index].source = 'agent = 1';
      return documents.write('both.ipynb', version, wanted);
    };
    expect((await change(1)).conflict).toBe(true);
    const dropped = { ...content, cells: [content.cells[0], content.cells[2]] };
    const refused = await documents.write('both.ipynb', version, dropped);
    expect(refused.conflict).toBe(true);
    expect((await change(0)).conflict).toBeUndefined();
    expect(await cells.sources()).toEqual({
      a: 'agent = 1',
      b: '# mine\ntwo = 2\nprint(two)',
      c: 'print("three")'
    });
  });

  test('is changed while a cell prints', async ({ page, request }) => {
    const loop =
      'import time\nfor n in range(200):\n    print(n, flush=True)\n    time.sleep(0.05)';
    await put(
      request,
      'stream.ipynb',
      notebook(code('a', loop), code('b', ''))
    );
    const documents = await DocumentsPage.open(page, 'stream.ipynb');
    const { cells } = documents;
    await cells.mark();
    await cells.start('a');
    await expect(await cells.output('a')).toContainText('3\n');
    const { content, version } = await documents.readNotebook();
    await expect(await cells.output('a')).toContainText('20\n');
    content.cells[0].source += '\n# running';
    content.cells[1].source = 'after = 1';
    const done = await documents.write('stream.ipynb', version, content);
    expect(done.conflict).toBeUndefined();
    expect(await cells.sources()).toEqual({
      a: `${loop}\n# running`,
      b: 'after = 1'
    });

    // Swapped: the one that runs stays, or its output would end here.
    const later = await documents.readNotebook();
    later.content.cells.reverse();
    await documents.write('stream.ipynb', later.version, later.content);
    expect(Object.keys(await cells.sources())).toEqual(['b', 'a']);
    await expect(await cells.output('a')).toContainText('199\n', {
      timeout: 30_000
    });
    expect(await cells.marked()).toEqual(['a']);
  });

  test('takes over what others wrote to disk', async ({ page, request }) => {
    await put(request, 'disk.ipynb', ABC);
    const documents = await DocumentsPage.open(page, 'disk.ipynb');
    const { cells } = documents;
    await cells.mark();
    const { content, version } = await documents.readNotebook();
    content.cells[0].source = 'one = "disk"';
    await put(request, 'disk.ipynb', content);
    await documents.write('disk.ipynb', version, content, {
      onDisk: { hash: await hashOf(request, 'disk.ipynb'), dirty: false }
    });
    expect(await documents.isDirty()).toBe(false);
    expect(await cells.marked()).toEqual(['a', 'b', 'c']);
    await cells.edit('c', '# mine\n');
    await documents.saveByUser();
    await documents.hasNoDialog();
    await expect
      .poll(() => onDisk(request, 'disk.ipynb'))
      .toMatchObject({
        cells: [
          { source: 'one = "disk"' },
          { source: 'two = 2\nprint(two)' },
          { source: '# mine\nprint("three")' }
        ]
      });
  });
});
