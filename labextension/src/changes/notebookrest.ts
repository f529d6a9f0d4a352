// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { JSONExt, type PartialJSONValue } from '@lumino/coreutils';

type Fields = Record<string, unknown>;

/** A cell as it is in a file. */
export interface IRawCell extends Fields {
  id?: unknown;
  cell_type?: unknown;
  source?: unknown;
}

/** A notebook as it is in a file. */
export interface IRawNotebook extends Fields {
  cells: IRawCell[];
  metadata?: {
    language_info?: { name?: string };
    kernelspec?: { language?: string };
  };
}

/** One cell in both versions, or in one of them. */
export interface IPair {
  old?: IRawCell;
  now?: IRawCell;
  isMoved: boolean;
}

/** What a cell has before anybody ran or described it. */
const UNUSED = new Map<string, unknown>([
  ['metadata', {}],
  ['outputs', []],
  ['execution_count', null]
]);
const OWN = new Set(['id', 'cell_type', 'source']);

/** What a notebook was before there was anything in it. */
export function emptyNotebook(notebook: IRawNotebook): IRawNotebook {
  const { nbformat, nbformat_minor } = notebook;
  return { nbformat, nbformat_minor, metadata: {}, cells: [] };
}

/**
 * What differs besides the sources of cells, before and after: fields of the
 * notebook, and under `cells` those of each cell by its number. That a cell is
 * gone with everything is told by the cell itself.
 */
export function restTexts(
  before: IRawNotebook,
  after: IRawNotebook,
  pairs: readonly IPair[]
): [string, string] {
  const numbers = new Map(after.cells.map((cell, index) => [cell, index + 1]));
  const cells = pairs.flatMap(({ old, now }) => {
    if (!now) {
      return [];
    }
    const fields = differing(old ?? unused(now), now, 'source');
    return fields ? [{ number: numbers.get(now)!, fields }] : [];
  });
  const rest = differing(before, after, 'cells') ?? [{}, {}];
  const text = (side: 0 | 1): string => {
    const ofCells = cells.map(({ number, fields }) => [number, fields[side]]);
    const all = {
      ...rest[side],
      ...(cells.length ? { cells: Object.fromEntries(ofCells) as Fields } : {})
    };
    return `${JSON.stringify(all, null, 1)}\n`;
  };
  return [text(0), text(1)];
}

/** What the new cells are if only that is undone. */
export function cellsWithOldRest(
  pairs: readonly IPair[]
): Map<IRawCell, IRawCell> {
  const cells = new Map<IRawCell, IRawCell>();
  for (const { old, now } of pairs) {
    // What cells of another type have does not fit.
    if (now && (!old || old.cell_type === now.cell_type)) {
      cells.set(now, { ...(old ?? unused(now)), source: now.source });
    }
  }
  return cells;
}

function unused(cell: IRawCell): IRawCell {
  return Object.fromEntries(
    Object.entries(cell)
      .filter(([name]) => OWN.has(name) || UNUSED.has(name))
      .map(([name, value]) => [
        name,
        UNUSED.has(name) ? UNUSED.get(name) : value
      ])
  );
}

/** The fields that differ, as they were and are; null if none does. */
function differing(
  old: Fields,
  now: Fields,
  except: string
): [Fields, Fields] | null {
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])].filter(
    name => name !== except && !isSame(own(old, name), own(now, name))
  );
  const some = (fields: Fields): Fields =>
    Object.fromEntries(
      names
        .filter(name => Object.hasOwn(fields, name))
        .map(name => [name, fields[name]])
    );
  return names.length ? [some(old), some(now)] : null;
}

/** Names are from a file and may be any, `constructor` too. */
function own(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

function isSame(one: unknown, other: unknown): boolean {
  if (one === undefined || other === undefined) {
    return one === other;
  }
  return JSONExt.deepEqual(one as PartialJSONValue, other as PartialJSONValue);
}
