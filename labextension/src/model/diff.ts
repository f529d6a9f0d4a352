// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { hunks } from './hunks';

export interface IDiffLine {
  kind: 'same' | 'added' | 'removed' | 'skipped';
  text: string;
}

/** Lines kept around a change. */
const CONTEXT = 3;

/** The lines of a unified diff, long unchanged stretches left out. */
export function lineDiff(oldText: string, newText: string): IDiffLine[] {
  const before = splitLines(oldText);
  const after = splitLines(newText);
  const parts: IDiffLine[][] = [];
  let done = 0;
  for (const hunk of hunks(before, after)) {
    parts.push(
      before.slice(done, hunk.start).map(same),
      before.slice(hunk.start, hunk.end).map(removed),
      after.slice(hunk.newStart, hunk.newEnd).map(added)
    );
    done = hunk.end;
  }
  parts.push(before.slice(done).map(same));
  return fold(parts.flat());
}

/** How many lines a diff adds and removes. */
export function diffStat(lines: readonly IDiffLine[]): {
  added: number;
  removed: number;
} {
  return {
    added: lines.filter(line => line.kind === 'added').length,
    removed: lines.filter(line => line.kind === 'removed').length
  };
}

function splitLines(text: string): string[] {
  if (text === '') {
    return [];
  }
  const lines = text.split('\n');
  if (lines.at(-1) === '') {
    lines.pop();
  }
  return lines;
}

function same(text: string): IDiffLine {
  return { kind: 'same', text };
}

function removed(text: string): IDiffLine {
  return { kind: 'removed', text };
}

function added(text: string): IDiffLine {
  return { kind: 'added', text };
}

function fold(lines: IDiffLine[]): IDiffLine[] {
  const near = new Uint8Array(lines.length);
  lines.forEach((line, index) => {
    if (line.kind !== 'same') {
      near.fill(1, Math.max(0, index - CONTEXT), index + CONTEXT + 1);
    }
  });
  const folded: IDiffLine[] = [];
  lines.forEach((line, index) => {
    if (near[index]) {
      folded.push(line);
    } else if (folded.at(-1)?.kind !== 'skipped') {
      folded.push({ kind: 'skipped', text: '' });
    }
  });
  return folded;
}
