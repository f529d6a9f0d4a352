// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

export interface IDiffLine {
  kind: 'same' | 'added' | 'removed' | 'skipped';
  text: string;
}

/** Lines kept around a change. */
const CONTEXT = 3;

/** Above this many compared lines, a change is shown as removed then added. */
const MAX_CELLS = 1_000_000;

/** The lines of a unified diff, long unchanged stretches left out. */
export function lineDiff(oldText: string, newText: string): IDiffLine[] {
  const before = splitLines(oldText);
  const after = splitLines(newText);
  let head = 0;
  while (
    head < before.length &&
    head < after.length &&
    before[head] === after[head]
  ) {
    head++;
  }
  let tail = 0;
  while (
    tail < before.length - head &&
    tail < after.length - head &&
    before[before.length - 1 - tail] === after[after.length - 1 - tail]
  ) {
    tail++;
  }
  const lines: IDiffLine[] = [
    ...before.slice(0, head).map(same),
    ...middle(
      before.slice(head, before.length - tail),
      after.slice(head, after.length - tail)
    ),
    ...before.slice(before.length - tail).map(same)
  ];
  return fold(lines);
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

/** Longest common subsequence of what remains between head and tail. */
function middle(before: string[], after: string[]): IDiffLine[] {
  const removed = (text: string): IDiffLine => ({ kind: 'removed', text });
  const added = (text: string): IDiffLine => ({ kind: 'added', text });
  const width = after.length + 1;
  if (before.length * after.length > MAX_CELLS) {
    return [...before.map(removed), ...after.map(added)];
  }
  const lengths = new Uint32Array((before.length + 1) * width);
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      lengths[i * width + j] =
        before[i] === after[j]
          ? lengths[(i + 1) * width + j + 1] + 1
          : Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
    }
  }
  const lines: IDiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < before.length && j < after.length) {
    if (before[i] === after[j]) {
      lines.push(same(before[i++]));
      j++;
    } else if (lengths[(i + 1) * width + j] >= lengths[i * width + j + 1]) {
      lines.push(removed(before[i++]));
    } else {
      lines.push(added(after[j++]));
    }
  }
  return [
    ...lines,
    ...before.slice(i).map(removed),
    ...after.slice(j).map(added)
  ];
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
