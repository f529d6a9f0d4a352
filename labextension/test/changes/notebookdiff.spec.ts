// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IDiffEntry, IDiffPatch } from 'nbdime/lib/diff/diffentries';

import {
  notebookDifference,
  shownNotebook
} from '../../src/changes/notebookdiff';
import {
  type ICellState,
  type IFileNotebook,
  readNotebook
} from '../../src/diff/notebook';
import { cell, printed } from '../support/notebooks';
import { Random } from '../support/random';

const notebook = (cells: ICellState[], metadata: object = {}): IFileNotebook =>
  readNotebook(structuredClone({ nbformat: 4, metadata, cells }));

const difference = (before: IFileNotebook, after: IFileNotebook) =>
  notebookDifference(shownNotebook(before), shownNotebook(after));

/** Do to something what nbdime would do to show what became of it. */
function patched(base: unknown, diff: readonly IDiffEntry[]): unknown {
  if (typeof base === 'string') {
    const lines = base.match(/[^\n]*\n|[^\n]+$/g) ?? [];
    return (patched(lines, diff) as string[]).join('');
  }
  if (!Array.isArray(base)) {
    const fields = { ...(base as Record<string, unknown>) };
    for (const entry of diff) {
      fields[entry.key] =
        entry.op === 'patch'
          ? patched(fields[entry.key], entry.diff!)
          : (entry as { value: unknown }).value;
    }
    return fields;
  }
  const made: unknown[] = [];
  let done = 0;
  for (const entry of diff) {
    const key = entry.key as number;
    expect(key).toBeGreaterThanOrEqual(done);
    made.push(...(base as unknown[]).slice(done, key));
    done = key;
    if (entry.op === 'addrange') {
      made.push(...(entry.valuelist as unknown[]));
    } else if (entry.op === 'removerange') {
      done += entry.length;
    } else {
      made.push(patched(base[done++], (entry as IDiffPatch).diff!));
    }
  }
  return [...made, ...(base as unknown[]).slice(done)];
}

describe('the difference of two notebooks', () => {
  it('is nothing where only the spelling differs', () => {
    const before = notebook([cell('a', '1\n2', printed('x\ny'))]);
    const after = structuredClone(before);
    after.cells[0].source = ['1\n', '2'];
    after.cells[0].outputs![0].text = ['x\n', 'y'];
    expect(difference(before, after)).toEqual([]);
  });

  it('tells of outputs and of how often a cell was run', () => {
    const before = notebook([cell('a', '1', printed('old'))]);
    const after = notebook([
      cell('a', '1', { ...printed('new'), execution_count: 2 })
    ]);
    expect(difference(before, after)).toEqual([
      {
        op: 'patch',
        key: 'cells',
        diff: [
          {
            op: 'patch',
            key: 0,
            diff: [
              {
                op: 'patch',
                key: 'outputs',
                diff: [
                  {
                    op: 'addrange',
                    key: 0,
                    valuelist: printed('new').outputs
                  },
                  { op: 'removerange', key: 0, length: 1 }
                ]
              },
              { op: 'replace', key: 'execution_count', value: 2 }
            ]
          }
        ]
      }
    ]);
  });

  it('tells of metadata, whatever their names', () => {
    const before = notebook([cell('a', '1')]);
    const after = notebook([cell('a', '1', { metadata: { '': 1 } })], {
      constructor: 2
    });
    const [metadata, cells] = difference(before, after);
    expect(JSON.stringify(metadata)).toContain('constructor');
    expect(JSON.stringify(cells)).toContain('\\"\\": 1');
  });

  it('takes a cell of another type for another cell', () => {
    const before = notebook([cell('a', '1')]);
    const after = notebook([cell('a', '1', { cell_type: 'markdown' })]);
    const [{ diff }] = difference(before, after) as { diff: IDiffEntry[] }[];
    expect(diff.map(({ op }) => op)).toEqual(['addrange', 'removerange']);
  });

  it('makes any notebook of any other', () => {
    const random = new Random(6);
    const some = (): IFileNotebook => {
      const ids = [...'abcdef'].filter(() => random.chance(0.6));
      return notebook(
        ids
          .map(id =>
            cell(id, random.pick(['x = 1', 'y = 2\nz', '']), {
              cell_type: random.chance(0.8) ? 'code' : 'markdown',
              metadata: random.chance(0.3) ? { tags: [1] } : {}
            })
          )
          .map(each =>
            each.cell_type === 'code' && random.chance(0.5)
              ? { ...each, ...printed(random.pick('xyz')), execution_count: 1 }
              : each
          )
          .sort(() => random.below(3) - 1),
        { round: random.below(3) }
      );
    };
    for (let round = 0; round < 300; round++) {
      const [before, after] = [some(), some()].map(shownNotebook);
      const found = notebookDifference(before, after);
      expect(patched(before, found)).toEqual(after);
    }
  });
});
