// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IPair } from '../diff/cells';
import {
  type Fields,
  type IFileCell,
  type IFileNotebook,
  isSame
} from '../diff/notebook';

/** What a cell has before anybody ran or described it. */
const UNUSED = new Map<string, Fields[string]>([
  ['metadata', {}],
  ['outputs', []],
  ['execution_count', null]
]);
const OWN = new Set(['id', 'cell_type', 'source']);

/** What a notebook was before there was anything in it. */
export function emptyNotebook(notebook: IFileNotebook): IFileNotebook {
  const { nbformat, nbformat_minor } = notebook;
  return { nbformat, nbformat_minor, metadata: {}, cells: [] };
}

/**
 * What differs besides the sources of cells, before and after: fields of the
 * notebook, and under `cells` those of each cell by its number. That a cell is
 * gone with everything is told by the cell itself.
 */
export function restTexts(
  before: IFileNotebook,
  after: IFileNotebook,
  pairs: readonly IPair<IFileCell>[]
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

/** The same cells, with what else they had before. */
export function withOldRest(
  pairs: readonly IPair<IFileCell>[]
): IPair<IFileCell>[] {
  return pairs.map(pair => {
    const { old, now } = pair;
    // What cells of another type have does not fit.
    return now && (!old || old.cell_type === now.cell_type)
      ? { ...pair, now: { ...(old ?? unused(now)), source: now.source } }
      : pair;
  });
}

function unused(cell: IFileCell): IFileCell {
  return Object.fromEntries(
    Object.entries(cell)
      .filter(([name]) => OWN.has(name) || UNUSED.has(name))
      .map(([name, value]) => [
        name,
        UNUSED.has(name) ? UNUSED.get(name) : value
      ])
  ) as IFileCell;
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
