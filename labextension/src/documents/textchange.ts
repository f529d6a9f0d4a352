// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { type IHunk, hunks } from '../diff/hunks';

/** Put `text` in the place of what stands from `start` to `end`. */
export interface ITextEdit {
  start: number;
  end: number;
  text: string;
}

const LINES = /[^\n]*\n|[^\n]+/g;

/** Words, blanks, line ends, and every other character by itself. */
const TOKENS = /[\p{L}\p{N}_]+|[^\S\n]+|[^]/gu;

/**
 * The edits that make one text of another, in ascending order, all counted in
 * the old text. They are small, so that a cursor or a mark outside of what
 * really changed stays where it is.
 */
export function textEdits(before: string, after: string): ITextEdit[] {
  if (before === after) {
    return [];
  }
  return splitEdits(before, after, LINES).flatMap(edit => refine(before, edit));
}

/** Apply edits to a string; what a shared text does with them. */
export function applyEdits(text: string, edits: readonly ITextEdit[]): string {
  return edits.reduceRight(
    (rest, { start, end, text: part }) =>
      rest.slice(0, start) + part + rest.slice(end),
    text
  );
}

/** Look into changed lines for the words that changed. */
function refine(before: string, edit: ITextEdit): ITextEdit[] {
  const old = before.slice(edit.start, edit.end);
  const parts = splitEdits(old, edit.text, TOKENS);
  const changed = parts.reduce((sum, part) => sum + part.end - part.start, 0);
  // Lines that were written anew share blanks and brackets by chance only.
  const chosen =
    old.length - changed < changed
      ? [{ start: 0, end: old.length, text: edit.text }]
      : parts;
  return chosen.map(part => {
    const { start, end, text } = trim(old, part);
    return { start: start + edit.start, end: end + edit.start, text };
  });
}

function splitEdits(before: string, after: string, by: RegExp): ITextEdit[] {
  const old = before.match(by) ?? [];
  const wanted = after.match(by) ?? [];
  const places = offsets(old);
  return hunks(old, wanted).map((hunk: IHunk) => ({
    start: places[hunk.start],
    end: places[hunk.end],
    text: wanted.slice(hunk.newStart, hunk.newEnd).join('')
  }));
}

function offsets(parts: readonly string[]): number[] {
  const places = [0];
  for (const part of parts) {
    places.push(places[places.length - 1] + part.length);
  }
  return places;
}

/** Leave out what is the same at both ends. */
function trim(before: string, { start, end, text }: ITextEdit): ITextEdit {
  const shorter = Math.min(end - start, text.length);
  let head = 0;
  while (head < shorter && before[start + head] === text[head]) {
    head++;
  }
  // A shared text turns the halves of a split surrogate pair into U+FFFD.
  if (head && isHighSurrogate(text, head - 1)) {
    head--;
  }
  let tail = 0;
  while (
    tail < shorter - head &&
    before[end - 1 - tail] === text[text.length - 1 - tail]
  ) {
    tail++;
  }
  if (tail && isLowSurrogate(text, text.length - tail)) {
    tail--;
  }
  return {
    start: start + head,
    end: end - tail,
    text: text.slice(head, text.length - tail)
  };
}

function isHighSurrogate(text: string, index: number): boolean {
  return (text.charCodeAt(index) & 0xfc00) === 0xd800;
}

function isLowSurrogate(text: string, index: number): boolean {
  return (text.charCodeAt(index) & 0xfc00) === 0xdc00;
}
