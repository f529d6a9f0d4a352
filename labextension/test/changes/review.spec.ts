// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import {
  Changes,
  deletesFile,
  partsFor,
  revisionFor
} from '../../src/changes/changes';
import { reviewOf } from '../../src/changes/review';
import { Random } from '../support/random';

const text = (...lines: string[]): string =>
  lines.map(line => `${line}\n`).join('');

describe('the review of a text', () => {
  const oldText = text('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j');
  const newText = text('a', 'B', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'J', 'k');
  const review = reviewOf({ path: 'x.py', oldText, newText });

  it('has a part for each place that changed', () => {
    expect(review.parts).toEqual([
      {
        id: '0',
        status: 'changed',
        oldText: text('a', 'b', 'c', 'd', 'e'),
        newText: text('a', 'B', 'c', 'd', 'e'),
        oldLine: 1,
        newLine: 1
      },
      {
        id: '1',
        status: 'changed',
        oldText: text('g', 'h', 'i', 'j'),
        newText: text('g', 'h', 'i', 'J', 'k'),
        oldLine: 7,
        newLine: 7
      }
    ]);
    expect([review.added, review.removed]).toEqual([3, 2]);
  });

  it('can undo each of them alone', () => {
    expect(review.revised(new Set())).toBe(newText);
    expect(review.revised(new Set(['0', '1']))).toBe(oldText);
    expect(review.revised(new Set(['0']))).toBe(
      text('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'J', 'k')
    );
  });

  it('does not show the same line twice', () => {
    const near = reviewOf({
      path: 'x',
      oldText: text('a', 'x', 'y', 'z', 'b'),
      newText: text('A', 'x', 'y', 'z', 'B')
    });
    expect(near.parts.map(part => part.newText)).toEqual([
      text('A', 'x', 'y'),
      text('z', 'B')
    ]);
  });

  it('knows files that were made, emptied, or have no last line end', () => {
    const made = reviewOf({ path: 'x', oldText: null, newText: 'a\n' });
    expect(made.parts).toHaveLength(1);
    expect(made.revised(new Set(['0']))).toBeNull();
    const emptied = reviewOf({ path: 'x', oldText: 'a\nb', newText: '' });
    expect(emptied.parts[0].status).toBe('removed');
    expect(emptied.revised(new Set(['0']))).toBe('a\nb');
    const ended = reviewOf({ path: 'x', oldText: 'a\nb', newText: 'a\nb\n' });
    expect(ended.revised(new Set(['0']))).toBe('a\nb');
  });

  it('comes back to both ends from anywhere', () => {
    const random = new Random(7);
    for (let round = 0; round < 200; round++) {
      const make = (): string =>
        Array.from({ length: random.below(12) }, () =>
          random.pick(['a\n', 'b\n', 'c\n'])
        ).join('');
      const [before, after] = [make(), make()];
      const { parts, revised } = reviewOf({
        path: 'x',
        oldText: before,
        newText: after
      });
      expect(revised(new Set())).toBe(after);
      expect(revised(new Set(parts.map(part => part.id)))).toBe(before);
    }
  });
});

type Cell = [id: string, source: string];

const notebook = (...cells: Cell[]): string =>
  JSON.stringify({
    nbformat: 4,
    nbformat_minor: 5,
    metadata: { language_info: { name: 'python' } },
    cells: cells.map(([id, source]) => ({
      ...(id ? { id } : {}),
      cell_type: 'code',
      metadata: {},
      outputs: [],
      execution_count: null,
      source: [source]
    }))
  });

const cellsOf = (json: string | null): Cell[] =>
  (
    JSON.parse(json!) as { cells: { id?: string; source: string[] }[] }
  ).cells.map(({ id, source }) => [id ?? '', source[0]]);

describe('the review of a notebook', () => {
  const oldText = notebook(['a', '1'], ['b', '2'], ['c', '3'], ['d', '4']);
  const newText = notebook(['a', 'one'], ['new', '!'], ['c', '3'], ['b', '2']);
  const review = reviewOf({ path: 'x.ipynb', oldText, newText });
  const idOf = (status: string): string =>
    review.parts.find(part => part.status === status)!.id;

  it('has a part for each cell that changed', () => {
    expect(review.notebooks).toBeDefined();
    expect(review.language).toBe('python');
    const seen = review.parts.map(({ status, cell }) => [status, cell?.number]);
    expect(seen.sort()).toEqual([
      ['added', 2],
      ['changed', 1],
      ['moved', 4],
      ['removed', 4]
    ]);
  });

  it('can undo each of them alone', () => {
    const undone = (status: string): Cell[] =>
      cellsOf(review.revised(new Set([idOf(status)])));
    expect(undone('changed')[0]).toEqual(['a', '1']);
    expect(undone('added').map(([id]) => id)).toEqual(['a', 'c', 'b']);
    expect(undone('removed').map(([id]) => id)).toEqual([
      'a',
      'new',
      'c',
      'd',
      'b'
    ]);
    expect(undone('moved').map(([id]) => id)).toEqual(['a', 'b', 'new', 'c']);
    expect(review.revised(new Set(review.parts.map(({ id }) => id)))).toBe(
      oldText
    );
  });

  it('recognises cells without ids by what they say and where they are', () => {
    const plain = reviewOf({
      path: 'x.ipynb',
      oldText: notebook(['', '1'], ['', '2'], ['', '3']),
      newText: notebook(['', '1'], ['', 'two'], ['', '3'])
    });
    expect(plain.parts.map(part => part.status)).toEqual(['changed']);
    expect(plain.parts[0]).toMatchObject({ oldText: '2', newText: 'two' });
  });

  it('tells equal cells without ids apart', () => {
    const review = reviewOf({
      path: 'x.ipynb',
      oldText: notebook(['', 'h'], ['', 'A'], ['', 'h'], ['', 'B']),
      newText: notebook(['', 'h'], ['', 'A'], ['', 'B'])
    });
    expect(review.parts.map(({ status }) => status)).toEqual(['removed']);
    const added = reviewOf({
      path: 'x.ipynb',
      oldText: notebook(['', 'A'], ['', ''], ['', 'B']),
      newText: notebook(['', 'A'], ['', ''], ['', 'B'], ['', ''])
    });
    expect(added.parts.map(({ status }) => status)).toEqual(['added']);
  });

  it('has a part for what is not the source of a cell', () => {
    const before = notebook(['a', '1']);
    const after = before.replace('"outputs":[]', '"outputs":[{"a":1}]');
    const review = reviewOf({
      path: 'x.ipynb',
      oldText: before,
      newText: after
    });
    expect(review.parts).toMatchObject([{ id: 'rest', isRest: true }]);
    expect(review.revised(new Set(['rest']))).toBe(before);
    expect(cellsOf(review.revised(new Set()))).toEqual([['a', '1']]);
  });

  it('takes what is only written in another way for text', () => {
    const before = notebook(['a', '1']);
    const spread = JSON.stringify(JSON.parse(before), null, 1);
    const change = { path: 'x.ipynb', oldText: before, newText: spread };
    expect(reviewOf(change).notebooks).toBeUndefined();
    expect(reviewOf(change).parts).toHaveLength(1);
  });

  it('takes what is no notebook for text', () => {
    const piece = reviewOf({ path: 'x.ipynb', oldText: 'a', newText: 'b' });
    expect(piece.notebooks).toBeUndefined();
    const broken = reviewOf({
      path: 'x.ipynb',
      oldText,
      newText: '{"cells":1}'
    });
    expect(broken.notebooks).toBeUndefined();
    const odd = oldText.replace('["1"]', '{"hidden":"1"}');
    const hidden = reviewOf({ path: 'x.ipynb', oldText, newText: odd });
    expect(hidden.notebooks).toBeUndefined();
    expect(hidden.added).toBe(1);
  });
});

describe('the rest of a notebook', () => {
  type Fields = Record<string, unknown>;

  const code = (id: string, source: string, more: Fields = {}): Fields => ({
    id,
    cell_type: 'code',
    metadata: {},
    outputs: [],
    execution_count: null,
    source,
    ...more
  });
  const printed = (text: string): Fields => ({
    outputs: [{ output_type: 'stream', name: 'stdout', text }],
    execution_count: 1
  });
  const file = (cells: Fields[], metadata: Fields = {}): string =>
    JSON.stringify({ nbformat: 4, nbformat_minor: 5, metadata, cells });
  const oldText = file([
    code('a', '1', printed('old')),
    code('b', '2'),
    { id: 'c', cell_type: 'markdown', metadata: {}, source: 'text' }
  ]);
  const newText = file(
    [
      code('a', 'one', printed('new')),
      code('b', '2', { metadata: { tags: ['x'] } }),
      {
        id: 'c',
        cell_type: 'markdown',
        metadata: {},
        source: 'text',
        attachments: { 'a.png': { 'image/png': 'AAAA' } }
      },
      code('d', '4', printed('<img src=x>')),
      code('e', '5')
    ],
    { kernelspec: { name: 'evil' } }
  );
  const review = reviewOf({ path: 'x.ipynb', oldText, newText });
  const parsed = (json: string | null): { cells: Fields[]; metadata: Fields } =>
    JSON.parse(json!) as { cells: Fields[]; metadata: Fields };

  it('is shown besides the cells, as far as it differs', () => {
    expect(
      review.parts.map(({ status, cell, isRest }) =>
        isRest ? 'rest' : `${status} ${cell?.number}`
      )
    ).toEqual(['changed 1', 'added 4', 'added 5', 'rest']);
    const rest = review.parts.at(-1)!;
    expect(JSON.parse(rest.oldText)).toEqual({
      metadata: {},
      cells: {
        1: { outputs: printed('old').outputs },
        2: { metadata: {} },
        3: {},
        4: { outputs: [], execution_count: null }
      }
    });
    expect(JSON.parse(rest.newText)).toEqual({
      metadata: { kernelspec: { name: 'evil' } },
      cells: {
        1: { outputs: printed('new').outputs },
        2: { metadata: { tags: ['x'] } },
        3: { attachments: { 'a.png': { 'image/png': 'AAAA' } } },
        4: printed('<img src=x>')
      }
    });
  });

  it('is undone without the cells, and they without it', () => {
    const restless = parsed(review.revised(new Set(['rest'])));
    expect(restless.metadata).toEqual({});
    expect(restless.cells).toEqual([
      code('a', 'one', printed('old')),
      code('b', '2'),
      { id: 'c', cell_type: 'markdown', metadata: {}, source: 'text' },
      code('d', '4'),
      code('e', '5')
    ]);
    const cells = parsed(review.revised(new Set(['0', '1'])));
    expect(cells.metadata).toEqual({ kernelspec: { name: 'evil' } });
    expect(cells.cells[0]).toEqual(code('a', '1', printed('new')));
    expect(cells.cells.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'e']);
    const both = parsed(review.revised(new Set(['0', '1', 'rest'])));
    expect(both.cells).toEqual([...parsed(oldText).cells, code('e', '5')]);
    expect(review.revised(new Set(['0', '1', '2', 'rest']))).toBe(oldText);
    expect(parsed(review.revised(new Set()))).toEqual(parsed(newText));
  });

  it('tells of cells that are of another type, and leaves these to them', () => {
    const { parts, revised } = reviewOf({
      path: 'x.ipynb',
      oldText: file([code('a', '1', printed('old')), code('b', '2')]),
      newText: file([
        { id: 'a', cell_type: 'markdown', metadata: {}, source: '1' },
        code('b', '2', printed('new'))
      ])
    });
    expect(parts.map(({ id }) => id)).toEqual(['0', 'rest']);
    expect(parts[1].newText).toContain('"cell_type": "markdown"');
    expect(parsed(revised(new Set(['rest']))).cells).toEqual([
      { id: 'a', cell_type: 'markdown', metadata: {}, source: '1' },
      code('b', '2')
    ]);
  });

  it('of a notebook that was made is what it would not have by itself', () => {
    const made = (cells: Fields[], metadata?: Fields): (string | undefined)[] =>
      reviewOf({
        path: 'x.ipynb',
        oldText: null,
        newText: file(cells, metadata)
      }).parts.map(({ isRest, newText }) => (isRest ? newText : undefined));
    expect(made([code('a', '1')])).toEqual([undefined]);
    expect(made([], { a: 1 })).toEqual([
      '{\n "metadata": {\n  "a": 1\n }\n}\n'
    ]);
  });

  it('cannot hide behind names that objects have anyway', () => {
    const cell = JSON.stringify(code('a', '1'));
    const named = `{"__proto__":{"x":1},"constructor":2,${cell.slice(1)}`;
    const { parts } = reviewOf({
      path: 'x.ipynb',
      oldText: file([code('a', '1')]),
      newText: `{"cells":[${named}],"metadata":{},"nbformat":4,"nbformat_minor":5}`
    });
    expect(parts).toHaveLength(1);
    expect(parts[0].newText).toContain('"__proto__"');
    expect(parts[0].newText).toContain('"constructor": 2');
  });
});

describe('decisions', () => {
  const file = { path: '/x', oldText: 'a\nb\nc\n', newText: 'A\nb\nC\n' };

  it('begin with what was decided before', () => {
    const changes = new Changes();
    const change = changes.note('1', file);
    expect(revisionFor(change, ['0'], 'undo')).toEqual({
      before: 'A\nb\nC\n',
      after: 'a\nb\nC\n'
    });
    changes.decided('1', ['0'], 'undo');
    expect(partsFor(change, 'undo')).toEqual(['1']);
    expect(partsFor(change, 'redo')).toEqual(['0']);
    expect(revisionFor(change, ['1'], 'undo')).toEqual({
      before: 'a\nb\nC\n',
      after: 'a\nb\nc\n'
    });
    changes.decided('1', ['1'], 'keep');
    expect(partsFor(change, 'keep')).toEqual([]);
    changes.decided('1', ['0'], 'redo');
    expect(partsFor(change, 'keep')).toEqual(['0']);
  });

  it('stay with a change that is told again', () => {
    const changes = new Changes();
    changes.decided('1', ['0'], 'undo');
    const change = changes.note('1', file);
    expect(change.verdicts.get('0')).toBe('undone');
    expect(changes.note('1', { ...file })).toBe(change);
    expect(changes.note('1', { ...file, newText: 'x' })).not.toBe(change);
  });

  it('delete a file only where nothing of what was made is left', () => {
    const changes = new Changes();
    const made = changes.note('made', {
      path: '/x.ipynb',
      oldText: null,
      newText: notebook(['a', '1'], ['b', '2'])
    });
    const parts = partsFor(made, 'undo');
    expect(deletesFile(made)).toBe(true);
    expect(deletesFile(made, parts.slice(1))).toBe(false);
    changes.decided('made', parts.slice(1), 'undo');
    expect(deletesFile(made, parts.slice(0, 1))).toBe(true);
    changes.decided('made', parts, 'undo');
    expect(deletesFile(made)).toBe(false);
    expect(deletesFile(changes.note('1', file))).toBe(false);
  });
});
