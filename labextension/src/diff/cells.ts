// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { hunks, unchanged } from './hunks';
import { type IFileCell, idOf, sourceOf } from './notebook';

/** What a cell is recognised by. */
type Cell = Pick<IFileCell, 'id' | 'cell_type' | 'source'>;

/** One cell in two versions of a notebook, or in one of them. */
export interface IPair<T extends Cell> {
  readonly old?: T;
  readonly now?: T;
  readonly isMoved: boolean;
}

/** Which cells are the same ones, in the order of the new notebook. */
export function pairCells<T extends Cell>(
  before: readonly T[],
  after: readonly T[]
): IPair<T>[] {
  const places = matchCells(before, after);
  const kept = new Set(places);
  const pairs: IPair<T>[] = [];
  let [at, newAt] = [0, 0];
  const readOn = (end: number, newEnd: number): void => {
    for (; newAt < newEnd; newAt++) {
      const old = before[places[newAt]] as T | undefined;
      pairs.push({ old, now: after[newAt], isMoved: old !== undefined });
    }
    for (; at < end; at++) {
      if (!kept.has(at)) {
        pairs.push({ old: before[at], isMoved: false });
      }
    }
  };
  const found = hunks([...before.keys()], places);
  for (const [same, newSame] of unchanged(found, before.length)) {
    readOn(same, newSame);
    pairs.push({ old: before[at++], now: after[newAt++], isMoved: false });
  }
  readOn(before.length, after.length);
  return pairs;
}

/**
 * For each cell of `after`, the place of the same cell in `before`, or -1:
 * cells are the same by their ids. One without an id, as agents and older files
 * have them, is the cell with the same content, or the next one of its type
 * among those that stood where it stands.
 */
export function matchCells(
  before: readonly Cell[],
  after: readonly Cell[]
): number[] {
  const ids = new Set(after.map(idOf));
  const nameOf = (cell: Cell): string => {
    const id = idOf(cell);
    return id && ids.has(id) ? id : `${cell.cell_type}\n${sourceOf(cell)}`;
  };
  const [oldNames, names] = [before.map(nameOf), after.map(nameOf)];
  const found = hunks(oldNames, names);
  const places = new Array<number>(after.length).fill(-1);
  for (const [at, newAt] of unchanged(found, before.length)) {
    places[newAt] = at;
  }

  const moved = new Map<string, number[]>();
  for (const { start, end } of found) {
    for (let place = start; place < end; place++) {
      const name = oldNames[place];
      moved.set(name, [...(moved.get(name) ?? []), place]);
    }
  }
  places.forEach((place, index) => {
    if (place < 0) {
      places[index] = moved.get(names[index])?.shift() ?? -1;
    }
  });

  const all = [...before.keys()];
  const kept = new Set(places);
  const isFree = (place: number): boolean => !kept.has(place);
  for (const { start, end, newStart, newEnd } of found) {
    let there = all.slice(start, end).filter(isFree);
    for (let index = newStart; index < newEnd; index++) {
      if (places[index] < 0 && !idOf(after[index])) {
        const { cell_type: type } = after[index];
        const nth = there.findIndex(place => before[place].cell_type === type);
        if (nth >= 0) {
          places[index] = there[nth];
          there = there.slice(nth + 1);
        }
      }
    }
  }
  return places;
}

/**
 * A name for each cell that no other cell of the notebook has. Ids should be
 * unique, but files in which they are not exist and open.
 */
export function keysOf(cells: readonly { id: string }[]): string[] {
  const seen = new Map<string, number>();
  return cells.map(({ id }) => {
    const count = seen.get(id) ?? 0;
    seen.set(id, count + 1);
    return count ? `${id}\0${count}` : id;
  });
}
