// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { type IHunk, hunks } from '../diff/hunks';
import {
  type IPair,
  type IRawCell,
  type IRawNotebook,
  cellsWithOldRest,
  emptyNotebook,
  restTexts
} from './notebookrest';

/** What an agent made of a file: all of it, or the piece that it replaced. */
export interface IFileChange {
  readonly path: string;
  /** Null if there was no file. */
  readonly oldText: string | null;
  readonly newText: string;
}

/** A part of a change that can be undone without the others. */
export interface IPart {
  readonly id: string;
  readonly status: 'added' | 'removed' | 'changed' | 'moved';
  /** As it is shown, with some lines around it. */
  readonly oldText: string;
  readonly newText: string;
  /** The line that each text begins with, counted from 1. */
  readonly oldLine: number;
  readonly newLine: number;
  /** Given if it is a cell of a notebook. */
  readonly cell?: { readonly number: number; readonly type: string };
  /** What is not the source of a cell, as JSON: outputs, metadata. */
  readonly isRest?: true;
}

/** A change taken apart. */
export interface IReview {
  readonly parts: readonly IPart[];
  /** Whether the parts are cells. */
  readonly isNotebook: boolean;
  /** The language of a notebook's code, if it says so. */
  readonly language?: string;
  readonly added: number;
  readonly removed: number;
  /** The new text with some parts as they were before; null: no file. */
  revised(undone: ReadonlySet<string>): string | null;
}

const CONTEXT = 3;

const reviews = new WeakMap<IFileChange, IReview>();

/** Take a change apart, once. */
export function reviewOf(change: IFileChange): IReview {
  let review = reviews.get(change);
  if (!review) {
    review = reviewNotebook(change) ?? reviewText(change);
    reviews.set(change, review);
  }
  return review;
}

// Texts

function reviewText({ oldText, newText }: IFileChange): IReview {
  const before = lines(oldText ?? '');
  const after = lines(newText);
  const found = hunks(before, after);
  const parts = found.map((hunk, index): IPart => {
    const gap = gapsAround(found, index, before.length).map(each =>
      Math.min(CONTEXT, each)
    );
    return {
      id: String(index),
      status: statusOf(hunk),
      oldText: before.slice(hunk.start - gap[0], hunk.end + gap[1]).join(''),
      newText: after
        .slice(hunk.newStart - gap[0], hunk.newEnd + gap[1])
        .join(''),
      oldLine: hunk.start - gap[0] + 1,
      newLine: hunk.newStart - gap[0] + 1
    };
  });
  return {
    parts,
    isNotebook: false,
    ...counted(found),
    revised: undone => {
      if (oldText === null && undone.size > 0) {
        return null;
      }
      const pieces: string[][] = [];
      let done = 0;
      found.forEach((hunk, index) => {
        pieces.push(
          after.slice(done, hunk.newStart),
          undone.has(String(index))
            ? before.slice(hunk.start, hunk.end)
            : after.slice(hunk.newStart, hunk.newEnd)
        );
        done = hunk.newEnd;
      });
      return [...pieces.flat(), ...after.slice(done)].join('');
    }
  };
}

/** Each with its line end, of which the last may have none. */
function lines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** How many unchanged lines a hunk may show on either side as its own. */
function gapsAround(
  found: readonly IHunk[],
  index: number,
  length: number
): [number, number] {
  const [previous, hunk, next] = [
    found[index - 1],
    found[index],
    found[index + 1]
  ] as (IHunk | undefined)[];
  const { start, end } = hunk!;
  return [
    previous ? Math.floor((start - previous.end) / 2) : start,
    next ? Math.ceil((next.start - end) / 2) : length - end
  ];
}

function statusOf(hunk: IHunk): IPart['status'] {
  if (hunk.start === hunk.end) {
    return 'added';
  }
  return hunk.newStart === hunk.newEnd ? 'removed' : 'changed';
}

function counted(found: readonly IHunk[]): { added: number; removed: number } {
  return {
    added: found.reduce((sum, hunk) => sum + hunk.newEnd - hunk.newStart, 0),
    removed: found.reduce((sum, hunk) => sum + hunk.end - hunk.start, 0)
  };
}

// Notebooks

const REST = 'rest';

function reviewNotebook(change: IFileChange): IReview | null {
  const after = parse(change.path, change.newText);
  const before =
    change.oldText === null
      ? after && emptyNotebook(after)
      : parse(change.path, change.oldText);
  if (!before || !after) {
    return null;
  }
  const pairs = pairsOf(before.cells, after.cells);
  const changed = pairs.filter(
    ({ old, now, isMoved }) =>
      isMoved ||
      !old ||
      !now ||
      sourceOf(old) !== sourceOf(now) ||
      old.cell_type !== now.cell_type
  );
  const parts = changed.map(({ old, now, isMoved }, index): IPart => {
    const shown = (now ?? old)!;
    const cells = now ? after.cells : before.cells;
    return {
      id: String(index),
      status: !old ? 'added' : !now ? 'removed' : isMoved ? 'moved' : 'changed',
      oldText: old ? sourceOf(old) : '',
      newText: now ? sourceOf(now) : '',
      oldLine: 1,
      newLine: 1,
      cell: { number: cells.indexOf(shown) + 1, type: String(shown.cell_type) }
    };
  });
  const [oldText, newText] = restTexts(before, after, pairs);
  if (oldText !== newText) {
    parts.push({
      id: REST,
      status: 'changed',
      oldText,
      newText,
      oldLine: 1,
      newLine: 1,
      isRest: true
    });
  }
  if (parts.length === 0 && change.oldText !== change.newText) {
    // Only written down in another way, which is seen in the text alone.
    return null;
  }
  const found = parts.flatMap(part =>
    hunks(lines(part.oldText), lines(part.newText))
  );
  const { language_info: info, kernelspec } = after.metadata ?? {};
  return {
    parts,
    isNotebook: true,
    language: info?.name ?? kernelspec?.language,
    ...counted(found),
    revised: undone => {
      if (undone.size === parts.length) {
        return change.oldText;
      }
      const isOld = undone.has(REST);
      const renewed = isOld ? cellsWithOldRest(pairs) : null;
      const present = (cell: IRawCell): IRawCell => renewed?.get(cell) ?? cell;
      const undonePairs = changed
        .filter((_, index) => undone.has(String(index)))
        .map(pair => ({ ...pair, now: pair.now && present(pair.now) }));
      const cells = undo(before.cells, after.cells.map(present), undonePairs);
      const rest = isOld ? before : after;
      return `${JSON.stringify({ ...rest, cells }, null, 1)}\n`;
    }
  };
}

function parse(path: string, text: string): IRawNotebook | null {
  if (!path.endsWith('.ipynb')) {
    return null;
  }
  try {
    const value = JSON.parse(text) as Partial<IRawNotebook> | null;
    const isOne =
      Array.isArray(value?.cells) &&
      value.cells.every(
        cell => cell && typeof cell === 'object' && isSource(cell.source)
      );
    return isOne ? (value as IRawNotebook) : null;
  } catch {
    // Agents that know of cells tell the source of the one that they changed.
    return null;
  }
}

/** What else stands for a source would be seen nowhere. */
function isSource(source: unknown): boolean {
  return (Array.isArray(source) ? source : [source ?? '']).every(
    each => typeof each === 'string'
  );
}

function sourceOf({ source }: IRawCell): string {
  return Array.isArray(source)
    ? source.join('')
    : typeof source === 'string'
      ? source
      : '';
}

/**
 * What cells are recognised by, each once: older notebooks have no ids, and
 * equal cells.
 */
function keysOf(cells: readonly IRawCell[]): string[] {
  const seen = new Map<string, number>();
  return cells.map(cell => {
    const key =
      typeof cell.id === 'string'
        ? cell.id
        : `${String(cell.cell_type)}\n${sourceOf(cell)}`;
    const count = (seen.get(key) ?? 0) + 1;
    seen.set(key, count);
    return count > 1 ? `${key}\n\n${count}` : key;
  });
}

/** Which cells are the same ones, in the order of the new notebook. */
function pairsOf(before: IRawCell[], after: IRawCell[]): IPair[] {
  const [oldKeys, newKeys] = [keysOf(before), keysOf(after)];
  const pairs: IPair[] = [];
  let [at, newAt] = [0, 0];
  const same = (until: number): void => {
    for (; at < until; at++, newAt++) {
      pairs.push({ old: before[at], now: after[newAt], isMoved: false });
    }
  };
  for (const { start, end, newStart, newEnd } of hunks(oldKeys, newKeys)) {
    same(start);
    const isOneByOne = end - start === newEnd - newStart;
    const edited = new Set<IRawCell>();
    for (let index = newStart; index < newEnd; index++) {
      const now = after[index];
      const from = oldKeys.indexOf(newKeys[index]);
      const there = before[start + index - newStart] as IRawCell | undefined;
      // Without ids, a cell that was edited looks like another one.
      const isEdited = from < 0 && isOneByOne && now.id === undefined;
      if (isEdited && there) {
        edited.add(there);
      }
      const old = from >= 0 ? before[from] : isEdited ? there : undefined;
      pairs.push({ old, now, isMoved: from >= 0 });
    }
    for (let index = start; index < end; index++) {
      if (!edited.has(before[index]) && !newKeys.includes(oldKeys[index])) {
        pairs.push({ old: before[index], isMoved: false });
      }
    }
    [at, newAt] = [end, newEnd];
  }
  same(before.length);
  return pairs;
}

/** The new cells, some of which are as and where they were. */
function undo(
  before: IRawCell[],
  after: IRawCell[],
  pairs: IPair[]
): IRawCell[] {
  const cells = [...after];
  for (const { old, now, isMoved } of pairs) {
    const index = now ? cells.indexOf(now) : -1;
    const restored = old && now ? asBefore(old, now) : old;
    if (restored && now && !isMoved) {
      cells[index] = restored;
      continue;
    }
    if (now) {
      cells.splice(index, 1);
    }
    if (old && restored) {
      cells.splice(placeOf(before, cells, old), 0, restored);
    }
  }
  return cells;
}

/** What the cell said, with what it printed since: only running changes that. */
function asBefore(old: IRawCell, now: IRawCell): IRawCell {
  return old.cell_type === 'code' && now.cell_type === 'code'
    ? { ...old, outputs: now.outputs, execution_count: now.execution_count }
    : old;
}

/** Behind the nearest cell that came before it and is still there. */
function placeOf(
  before: IRawCell[],
  cells: IRawCell[],
  cell: IRawCell
): number {
  const [oldKeys, keys] = [keysOf(before), keysOf(cells)];
  for (let index = before.indexOf(cell) - 1; index >= 0; index--) {
    const place = keys.indexOf(oldKeys[index]);
    if (place >= 0) {
      return place + 1;
    }
  }
  return 0;
}
