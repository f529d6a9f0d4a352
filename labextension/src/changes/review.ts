// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { type IPair, pairCells } from '../diff/cells';
import { type IHunk, hunks, lines } from '../diff/hunks';
import {
  type Fields,
  type IFileCell,
  type IFileNotebook,
  readNotebook,
  sourceOf
} from '../diff/notebook';
import { emptyNotebook, restTexts, withOldRest } from './notebookrest';

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

/** A notebook before and after a change. */
export interface INotebooks {
  readonly before: IFileNotebook;
  readonly after: IFileNotebook;
}

/** A change taken apart. */
export interface IReview {
  readonly parts: readonly IPart[];
  /** Given if the parts are cells. */
  readonly notebooks?: INotebooks;
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
    review = asNotebook(change) ?? reviewText(change);
    reviews.set(change, review);
  }
  return review;
}

/** A notebook that cannot be taken apart, such as one nested too deeply, is a text. */
function asNotebook(change: IFileChange): IReview | null {
  try {
    return reviewNotebook(change);
  } catch {
    return null;
  }
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
  const pairs = pairCells(before.cells, after.cells);
  const changed = [...pairs.keys()].filter(place => {
    const { old, now, isMoved } = pairs[place];
    return (
      isMoved ||
      !old ||
      !now ||
      sourceOf(old) !== sourceOf(now) ||
      old.cell_type !== now.cell_type
    );
  });
  const parts = changed.map((place, index): IPart => {
    const { old, now, isMoved } = pairs[place];
    const shown = (now ?? old)!;
    const cells = now ? after.cells : before.cells;
    return {
      id: String(index),
      status: !old ? 'added' : !now ? 'removed' : isMoved ? 'moved' : 'changed',
      oldText: old ? sourceOf(old) : '',
      newText: now ? sourceOf(now) : '',
      oldLine: 1,
      newLine: 1,
      cell: { number: cells.indexOf(shown) + 1, type: shown.cell_type }
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
  return {
    parts,
    notebooks: { before, after },
    language: languageOf(after),
    ...counted(found),
    revised: undone => {
      if (undone.size === parts.length) {
        return change.oldText;
      }
      const isOld = undone.has(REST);
      const cells = undo(
        before.cells,
        isOld ? withOldRest(pairs) : pairs,
        changed.filter((_, index) => undone.has(String(index)))
      );
      const rest = isOld ? before : after;
      return `${JSON.stringify({ ...rest, cells }, null, 1)}\n`;
    }
  };
}

function parse(path: string, text: string): IFileNotebook | null {
  if (!path.endsWith('.ipynb')) {
    return null;
  }
  try {
    return readNotebook(JSON.parse(text));
  } catch {
    // Agents that know of cells tell the source of the one that they changed.
    return null;
  }
}

function languageOf({ metadata }: IFileNotebook): string | undefined {
  const { language_info: info, kernelspec } = metadata ?? {};
  const name =
    (info as Fields | null | undefined)?.name ??
    (kernelspec as Fields | null | undefined)?.language;
  return typeof name === 'string' ? name : undefined;
}

/** The new cells, but those of some pairs as and where they were. */
function undo(
  before: readonly IFileCell[],
  pairs: readonly IPair<IFileCell>[],
  undone: readonly number[]
): IFileCell[] {
  const standing = pairs.filter(({ now }) => now);
  for (const { old, now, isMoved } of undone.map(index => pairs[index])) {
    const place = standing.findIndex(pair => pair.now === now);
    const isThere = place >= 0 && !isMoved;
    if (place >= 0) {
      standing.splice(place, 1);
    }
    if (old) {
      const restored = now ? asBefore(old, now) : old;
      const wanted = isThere ? place : placeOf(before, standing, old);
      standing.splice(wanted, 0, { old, now: restored, isMoved: false });
    }
  }
  return standing.map(({ now }) => now!);
}

/** What the cell said, with what it printed since: only running changes that. */
function asBefore(old: IFileCell, now: IFileCell): IFileCell {
  return old.cell_type === 'code' && now.cell_type === 'code'
    ? { ...old, outputs: now.outputs, execution_count: now.execution_count }
    : old;
}

/** Behind the nearest cell that came before it and is still there. */
function placeOf(
  before: readonly IFileCell[],
  standing: readonly IPair<IFileCell>[],
  cell: IFileCell
): number {
  for (let index = before.indexOf(cell) - 1; index >= 0; index--) {
    const place = standing.findIndex(({ old }) => old === before[index]);
    if (place >= 0) {
      return place + 1;
    }
  }
  return 0;
}
