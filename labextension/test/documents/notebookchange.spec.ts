// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { keysOf } from '../../src/diff/cells';
import type { ICellState, INotebookState } from '../../src/diff/notebook';
import {
  type INotebookPlan,
  editCell,
  editMap,
  planChange
} from '../../src/documents/notebookchange';
import { cell, printed } from '../support/notebooks';
import { Random } from '../support/random';

function notebook(...cells: ICellState[]): INotebookState {
  return { metadata: { kernelspec: { name: 'python3' } }, cells };
}

/** What a notebook becomes when a plan is carried out. */
function carryOut(live: INotebookState, plan: INotebookPlan): INotebookState {
  const cells = live.cells.map((each, index) =>
    editCell(each, plan.edits.get(index) ?? {})
  );
  for (const index of plan.removals) {
    cells.splice(index, 1);
  }
  for (const { index, cell } of plan.insertions) {
    cells.splice(index, 0, cell);
  }
  return { cells, metadata: editMap(live.metadata, plan.metadata) };
}

/** Plan a change that must be possible. */
function planned(
  read: INotebookState,
  wanted: INotebookState,
  live = read,
  isBusy?: (index: number) => boolean
): INotebookPlan {
  const plan = planChange(read, wanted, live, isBusy);
  expect(plan).not.toBeNull();
  return plan!;
}

const ABC = notebook(cell('a', '1'), cell('b', '2'), cell('c', '3'));
const [A, B, C] = ABC.cells;

describe('planChange', () => {
  it('does nothing where nothing changed', () => {
    const plan = planned(ABC, ABC, notebook(cell('x', 'typed meanwhile')));
    expect(plan).toMatchObject({ removals: [], insertions: [], metadata: {} });
    expect(plan.edits.size).toBe(0);
  });

  it('edits one cell while the user edits and adds others', () => {
    const live = notebook(cell('new', ''), cell('a', 'typed'), B, C);
    const plan = planned(ABC, notebook(A, cell('b', 'two'), C), live);
    expect([...plan.edits]).toEqual([[2, { source: 'two' }]]);
    expect(plan).toMatchObject({ removals: [], insertions: [] });
  });

  it('keeps outputs that it does not know of', () => {
    const live = notebook(A, cell('b', '2', printed('running…')), C);
    const wanted = notebook(A, cell('b', 'two'), C);
    const plan = planned(ABC, wanted, live);
    expect([...plan.edits]).toEqual([[1, { source: 'two' }]]);
  });

  it('changes outputs and counts only where they were changed', () => {
    const read = notebook(cell('a', '1', printed('old')), B);
    const wanted = notebook(
      cell('a', '1', { ...printed('new'), execution_count: 4 }),
      B
    );
    expect([...planned(read, wanted).edits]).toEqual([
      [0, { ...printed('new'), execution_count: 4 }]
    ]);
    const live = notebook(cell('a', '1', printed('newer')), B);
    expect(planChange(read, wanted, live)).toBeNull();
  });

  it('changes single keys of metadata', () => {
    const tagged = (metadata: object): INotebookState =>
      notebook(cell('a', '1', { metadata }));
    const plan = planned(
      tagged({ tags: ['x'], old: 1, same: 2 }),
      tagged({ tags: ['y'], same: 2 }),
      tagged({ tags: ['x'], old: 1, same: 3, editable: false })
    );
    expect(plan.edits.get(0)).toEqual({
      metadata: { tags: ['y'], old: undefined }
    });
    expect(
      planChange(tagged({}), tagged({ tags: ['y'] }), tagged({ tags: ['z'] }))
    ).toBeNull();
  });

  it('changes the metadata of the notebook, the user its kernel', () => {
    const live = { ...ABC, metadata: { kernelspec: { name: 'ir' } } };
    const wanted = { ...ABC, metadata: { ...ABC.metadata, title: 'T' } };
    expect(planned(ABC, wanted, live).metadata).toEqual({ title: 'T' });
    const other = { ...ABC, metadata: { kernelspec: { name: 'bash' } } };
    expect(planChange(ABC, other, live)).toBeNull();
  });

  it('puts in, takes out and moves as little as it can', () => {
    const wanted = notebook(C, A, cell('n', 'new'));
    const plan = planned(ABC, wanted);
    expect(plan.removals).toEqual([1, 0]);
    expect(plan.insertions).toEqual([
      { index: 1, cell: A, movedFrom: 0 },
      { index: 2, cell: cell('n', 'new') }
    ]);
    expect(carryOut(ABC, plan)).toEqual(wanted);
  });

  it('moves a cell with what the user has made of it', () => {
    const now = cell('c', '3', { ...printed('out'), metadata: { tags: [1] } });
    const wanted = notebook(cell('c', 'three'), A, B);
    const plan = planned(ABC, wanted, notebook(A, B, now));
    expect(plan.insertions).toEqual([
      { index: 0, cell: { ...now, source: 'three' }, movedFrom: 2 }
    ]);
    expect(plan.edits.size).toBe(0);
  });

  it('rather moves a cell that does not run', () => {
    for (const busy of [0, 1]) {
      const swapped = notebook(B, A, C);
      const plan = planned(ABC, swapped, ABC, index => index === busy);
      expect(plan.removals).toEqual([1 - busy]);
      expect(carryOut(ABC, plan)).toEqual(swapped);
    }
  });

  it('replaces a cell of another type where it stands', () => {
    const read = notebook(A, cell('b', '2', printed('out')), C);
    const text = cell('b', 'text', { cell_type: 'markdown' });
    const live = notebook(...read.cells, cell('new', ''));
    const plan = planned(read, notebook(A, text, C), live);
    expect(plan.removals).toEqual([1]);
    expect(plan.insertions).toEqual([
      { index: 1, cell: text, movedFrom: undefined }
    ]);
  });

  it.each([
    ['edits what the user edited', notebook(A, cell('b', 'two'), C)],
    ['removes what the user edited', notebook(A, C)],
    [
      'retypes what the user edited',
      notebook(A, cell('b', '2', { cell_type: 'raw' }), C)
    ]
  ])('conflicts when it %s', (_, wanted) => {
    const live = notebook(A, cell('b', 'typed'), C);
    expect(planChange(ABC, wanted, live)).toBeNull();
  });

  it('conflicts when the user retyped or removed what it edits', () => {
    const wanted = notebook(A, cell('b', 'two'), C);
    const text = cell('b', '2', { cell_type: 'markdown' });
    expect(planChange(ABC, wanted, notebook(A, text, C))).toBeNull();
    expect(planChange(ABC, wanted, notebook(A, C))).toBeNull();
  });

  it('conflicts when both change the order', () => {
    const live = notebook(A, B, C, cell('new', ''));
    expect(planChange(ABC, notebook(A, C), live)).toBeNull();
  });

  it('takes for done what the user has done already', () => {
    const wanted = notebook(A, cell('b', 'two'), C);
    expect(planned(ABC, wanted, wanted).edits.size).toBe(0);
  });

  it('knows cells that come back without their ids', () => {
    const anonymous = (source: string) => cell('', source);
    const wanted = notebook(...['1', 'two', 'new', '3'].map(anonymous));
    const plan = planned(ABC, wanted);
    expect(plan.wanted.cells.map(each => each.id)).toEqual([
      'a',
      'b',
      expect.stringMatching(/.{8}/),
      'c'
    ]);
    expect([...plan.edits]).toEqual([[1, { source: 'two' }]]);
    expect(plan.removals).toEqual([]);
  });

  it('gives a copy of a cell an id of its own', () => {
    const plan = planned(ABC, notebook(A, A, B, C));
    const ids = plan.wanted.cells.map(each => each.id);
    expect(new Set(ids).size).toBe(4);
    expect(plan.insertions).toHaveLength(1);
  });

  it('edits the right one of two cells with the same id', () => {
    const read = notebook(A, cell('a', 'twin'), C);
    const wanted = notebook(A, cell('a', 'changed'), C);
    const plan = planned(read, wanted);
    expect([...plan.edits]).toEqual([[1, { source: 'changed' }]]);
    expect(carryOut(read, plan)).toEqual(wanted);
  });

  it('makes any notebook of any other', () => {
    const random = new Random(3);
    for (let round = 0; round < 500; round++) {
      const read = notebook(
        ...Array.from({ length: random.below(8) }, (_, index) =>
          randomCell(random, `c${index}`)
        )
      );
      const wanted = mutate(random, read);
      const plan = planned(read, wanted, read, () => random.chance(0.1));
      expect(plan.wanted).toEqual(wanted);
      expect(carryOut(read, plan)).toEqual(wanted);
    }
  });

  it('keeps what the user did elsewhere, whatever it changes', () => {
    const random = new Random(4);
    let done = 0;
    for (let round = 0; round < 500; round++) {
      const read = notebook(
        ...Array.from({ length: 1 + random.below(7) }, (_, index) =>
          randomCell(random, `c${index}`)
        )
      );
      const wanted = mutate(random, read);
      const touched = random.below(read.cells.length);
      const live = {
        ...read,
        cells: read.cells.map((each, index) =>
          index === touched ? { ...each, source: 'typed by the user' } : each
        )
      };
      const plan = planChange(read, wanted, live);
      if (plan) {
        done++;
        const made = carryOut(live, plan);
        const { id } = read.cells[touched];
        expect(made.cells.find(each => each.id === id)?.source).toBe(
          'typed by the user'
        );
        expect(keysOf(made.cells)).toEqual(keysOf(wanted.cells));
      }
    }
    expect(done).toBeGreaterThan(50);
  });
});

function randomCell(random: Random, id: string): ICellState {
  const isCode = random.chance(0.7);
  return cell(id, random.pick(['x = 1', 'y = 2\nz', '']), {
    cell_type: isCode ? 'code' : random.pick(['markdown', 'raw']),
    ...(isCode && random.chance(0.5) ? printed('out') : {}),
    metadata: random.chance(0.3) ? { tags: [random.pick('xyz')] } : {}
  });
}

function mutate(random: Random, read: INotebookState): INotebookState {
  let count = 0;
  const cells = [...read.cells];
  for (let step = random.below(5); step > 0; step--) {
    const at = random.below(cells.length + 1);
    if (at === cells.length || random.chance(0.2)) {
      cells.splice(at, 0, randomCell(random, `n${++count}`));
    } else if (random.chance(0.3)) {
      cells.splice(at, 1);
    } else if (random.chance(0.4)) {
      const [moved] = cells.splice(at, 1);
      cells.splice(random.below(cells.length + 1), 0, moved);
    } else {
      cells[at] = randomCell(random, cells[at].id);
    }
  }
  return { cells, metadata: { ...read.metadata, round: random.below(3) } };
}
