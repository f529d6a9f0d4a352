// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IDiffEntry } from 'nbdime/lib/diff/diffentries';

import { pairCells } from '../diff/cells';
import { hunks, lines } from '../diff/hunks';
import {
  type Fields,
  type ICellState,
  type IFileNotebook,
  cellState,
  isSame
} from '../diff/notebook';

/**
 * A cell as nbdime compares it: its metadata are JSON text. Lines show more than
 * whole fields do, and no name of a field means anything to nbdime.
 */
export interface IShownCell extends Omit<ICellState, 'metadata'> {
  metadata: string;
}

export interface IShownNotebook {
  metadata: string;
  cells: IShownCell[];
}

export function shownNotebook(notebook: IFileNotebook): IShownNotebook {
  return {
    metadata: json(notebook.metadata),
    cells: notebook.cells.map(cell => ({
      ...cellState(cell),
      metadata: json(cell.metadata)
    }))
  };
}

/** What nbdime's own server would answer. */
export function notebookDifference(
  before: IShownNotebook,
  after: IShownNotebook
): IDiffEntry[] {
  return [
    ...patch('metadata', textDifference(before.metadata, after.metadata)),
    ...patch('cells', cellsDifference(before.cells, after.cells))
  ];
}

function cellsDifference(
  before: readonly IShownCell[],
  after: readonly IShownCell[]
): IDiffEntry[] {
  const entries: IDiffEntry[] = [];
  let at = 0;
  let added: IShownCell[] = [];
  const readOn = (end: number): void => {
    entries.push(...ranges(at, end, added));
    added = [];
  };
  for (const { old, now, isMoved } of pairCells(before, after)) {
    // A cell of another type is shown as another cell.
    if (old && !isMoved && old.cell_type === now?.cell_type) {
      const place = before.indexOf(old, at);
      readOn(place);
      entries.push(...patch(place, cellDifference(old, now)));
      at = place + 1;
    } else if (now) {
      added.push(now);
    }
  }
  readOn(before.length);
  return entries;
}

function cellDifference(before: IShownCell, after: IShownCell): IDiffEntry[] {
  const key = 'execution_count';
  const value = after[key];
  return [
    ...patch('source', textDifference(before.source, after.source)),
    ...patch('metadata', textDifference(before.metadata, after.metadata)),
    ...patch('outputs', outputsDifference(before.outputs, after.outputs)),
    ...(before[key] === value ? [] : [{ op: 'replace' as const, key, value }])
  ];
}

function outputsDifference(
  before: ICellState['outputs'],
  after: ICellState['outputs']
): IDiffEntry[] {
  if (isSame(before, after)) {
    return [];
  }
  const texts = (outputs: typeof before): string[] =>
    outputs.map(output => JSON.stringify(output));
  return hunks(texts(before), texts(after)).flatMap(hunk =>
    ranges(hunk.start, hunk.end, after.slice(hunk.newStart, hunk.newEnd))
  );
}

function textDifference(before: string, after: string): IDiffEntry[] {
  const [oldLines, newLines] = [lines(before), lines(after)];
  return hunks(oldLines, newLines).flatMap(hunk =>
    ranges(hunk.start, hunk.end, newLines.slice(hunk.newStart, hunk.newEnd))
  );
}

function patch(key: string | number, diff: IDiffEntry[]): IDiffEntry[] {
  return diff.length > 0 ? [{ op: 'patch', key, diff }] : [];
}

function ranges(start: number, end: number, values: unknown[]): IDiffEntry[] {
  const entries: IDiffEntry[] = [];
  if (values.length > 0) {
    entries.push({ op: 'addrange', key: start, valuelist: values });
  }
  if (end > start) {
    entries.push({ op: 'removerange', key: start, length: end - start });
  }
  return entries;
}

function json(metadata: Fields | null = {}): string {
  return JSON.stringify(metadata ?? {}, null, 2);
}
