// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { type PartialJSONValue, UUID } from '@lumino/coreutils';

import { keysOf, matchCells } from '../diff/cells';
import {
  type CellType,
  type ICellState,
  type INotebookState,
  isSame
} from '../diff/notebook';

/** Keys with their new values; those to be removed have none. */
export type MapEdit = Record<string, PartialJSONValue | undefined>;

/** The fields of a cell that change. */
export interface ICellEdit {
  cell_type?: CellType;
  source?: string;
  metadata?: MapEdit;
  attachments?: PartialJSONValue;
  outputs?: PartialJSONValue[];
  execution_count?: number | null;
}

export interface IInsertion {
  /** Where the cell will stand in the end. */
  index: number;
  cell: ICellState;
  /** Where it stands now with the outputs that it will have. */
  movedFrom?: number;
}

/** How to get from the live notebook to the wanted one. */
export interface INotebookPlan {
  /** What is wanted, each cell with its id. */
  wanted: INotebookState;
  metadata: MapEdit;
  /** By the place of the cell in the live notebook; those cells stay. */
  edits: Map<number, ICellEdit>;
  /** Places in the live notebook, the last one first. */
  removals: number[];
  /** To be made after the removals, the first one first. */
  insertions: IInsertion[];
}

/** The user has changed the same thing meanwhile. */
class Conflict extends Error {}

/**
 * Plan to do to the live notebook what was done to it between `read` and
 * `wanted`; null if the user has done something else to the same part.
 *
 * @param isBusy - Tells which live cells should rather not be moved.
 */
export function planChange(
  read: INotebookState,
  given: INotebookState,
  live: INotebookState,
  isBusy: (index: number) => boolean = () => false
): INotebookPlan | null {
  try {
    return plan(read, given, live, isBusy);
  } catch (error) {
    if (error instanceof Conflict) {
      return null;
    }
    throw error;
  }
}

/** What a cell is after an edit. */
export function editCell(cell: ICellState, edit: ICellEdit): ICellState {
  const { metadata, ...fields } = edit;
  const edited = {
    ...cell,
    ...fields,
    metadata: editMap(cell.metadata, metadata ?? {})
  };
  return edited.cell_type === 'code'
    ? { ...edited, attachments: null }
    : { ...edited, outputs: [], execution_count: null };
}

export function editMap(map: MapEdit, edit: MapEdit): MapEdit {
  const entries = Object.entries({ ...map, ...edit });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function plan(
  read: INotebookState,
  given: INotebookState,
  live: INotebookState,
  isBusy: (index: number) => boolean
): INotebookPlan {
  const wanted = { ...given, cells: withIds(read.cells, given.cells) };
  const readKeys = keysOf(read.cells);
  const wantedKeys = keysOf(wanted.cells);
  const liveKeys = keysOf(live.cells);
  const wantedAt = places(wantedKeys);
  const liveAt = places(liveKeys);

  const isReordered = !isSame(readKeys, wantedKeys);
  if (isReordered && !isSame(readKeys, liveKeys)) {
    throw new Conflict();
  }
  const edits = new Map<string, ICellEdit>();
  read.cells.forEach((before, index) => {
    const key = readKeys[index];
    const after = wanted.cells[wantedAt.get(key) ?? -1];
    const now = live.cells[liveAt.get(key) ?? -1];
    const edit = cellChange(before, after, now);
    if (edit) {
      edits.set(key, edit);
    }
  });

  const order = isReordered ? wantedKeys : liveKeys;
  const stays = chooseStaying(
    order
      .filter(key => liveAt.has(key) && !edits.get(key)?.cell_type)
      .map(key => liveAt.get(key)!),
    isBusy
  );
  const insertions: IInsertion[] = [];
  order.forEach((key, index) => {
    const from = liveAt.get(key);
    if (from === undefined) {
      insertions.push({ index, cell: wanted.cells[index] });
    } else if (!stays.has(from)) {
      const edit = edits.get(key) ?? {};
      const movedFrom = edit.cell_type || edit.outputs ? undefined : from;
      const cell = editCell(live.cells[from], edit);
      insertions.push({ index, cell, movedFrom });
      edits.delete(key);
    }
  });
  return {
    wanted,
    metadata: mapChange(read.metadata, wanted.metadata, live.metadata),
    edits: new Map([...edits].map(([key, edit]) => [liveAt.get(key)!, edit])),
    removals: [...liveKeys.keys()].filter(index => !stays.has(index)).reverse(),
    insertions
  };
}

/** What to do to a cell that is now `now`; undefined if nothing. */
function cellChange(
  before: ICellState,
  after: ICellState | undefined,
  now: ICellState | undefined
): ICellEdit | undefined {
  if (after && isSame(before, after)) {
    return undefined;
  }
  if (!now || now.cell_type !== before.cell_type) {
    throw new Conflict();
  }
  const isReplaced = after?.cell_type !== before.cell_type;
  if (isReplaced && now.source !== before.source) {
    throw new Conflict();
  }
  if (!after) {
    return undefined;
  }
  const edit: ICellEdit = {};
  if (isReplaced) {
    edit.cell_type = after.cell_type;
  }
  if (isChange(before.source, after.source, now.source)) {
    edit.source = after.source;
  }
  const metadata = mapChange(before.metadata, after.metadata, now.metadata);
  if (Object.keys(metadata).length) {
    edit.metadata = metadata;
  }
  if (isChange(before.attachments, after.attachments, now.attachments)) {
    edit.attachments = after.attachments;
  }
  // A cell of another type is a new cell: what the old one printed is gone.
  if (isReplaced || isChange(before.outputs, after.outputs, now.outputs)) {
    edit.outputs = after.outputs;
  }
  const count = 'execution_count';
  if (isReplaced || isChange(before[count], after[count], now[count])) {
    edit[count] = after[count];
  }
  return Object.keys(edit).length ? edit : undefined;
}

function mapChange(before: MapEdit, after: MapEdit, now: MapEdit): MapEdit {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  const edit: MapEdit = {};
  for (const key of keys) {
    if (isChange(before[key], after[key], now[key])) {
      edit[key] = after[key];
    }
  }
  return edit;
}

/** Whether there is something to do that the user has not done already. */
function isChange(before: unknown, after: unknown, now: unknown): boolean {
  if (isSame(before, after) || isSame(now, after)) {
    return false;
  }
  if (!isSame(before, now)) {
    throw new Conflict();
  }
  return true;
}

/**
 * Give cells without an id that of the cell that they most likely are, and
 * new cells one of their own.
 */
function withIds(
  read: readonly ICellState[],
  given: readonly ICellState[]
): ICellState[] {
  const places = matchCells(read, given);
  const keys = keysOf(given);
  return given.map((cell, index) => {
    const same = read[places[index]] as ICellState | undefined;
    // A second cell with an id that the notebook had once is a copy.
    const own = keys[index] === cell.id ? cell.id : '';
    return { ...cell, id: (same?.id ?? own) || UUID.uuid4() };
  });
}

/**
 * The cells that need not move, as many as possible: a moved cell is a new
 * one to the editor, with no undo history, and its running code is forgotten.
 */
function chooseStaying(
  wanted: readonly number[],
  isBusy: (index: number) => boolean
): Set<number> {
  const best: number[] = [];
  const previous: number[] = [];
  let last = -1;
  wanted.forEach((from, i) => {
    best[i] = 0;
    previous[i] = -1;
    for (let j = 0; j < i; j++) {
      if (wanted[j] < from && best[j] > best[i]) {
        best[i] = best[j];
        previous[i] = j;
      }
    }
    best[i] += isBusy(from) ? wanted.length : 1;
    if (last < 0 || best[i] > best[last]) {
      last = i;
    }
  });
  const chosen = new Set<number>();
  for (; last >= 0; last = previous[last]) {
    chosen.add(wanted[last]);
  }
  return chosen;
}

function places(keys: readonly string[]): Map<string, number> {
  return new Map(keys.map((key, index) => [key, index]));
}
