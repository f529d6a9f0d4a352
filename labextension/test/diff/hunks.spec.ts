// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { type IHunk, hunks } from '../../src/diff/hunks';
import { Random } from '../support/random';

function apply<T>(
  before: readonly T[],
  after: readonly T[],
  found: readonly IHunk[]
): T[] {
  const made: T[] = [];
  let done = 0;
  for (const { start, end, newStart, newEnd } of found) {
    expect(start).toBeGreaterThanOrEqual(done);
    made.push(...before.slice(done, start), ...after.slice(newStart, newEnd));
    done = end;
  }
  return [...made, ...before.slice(done)];
}

/** The length of the longest common subsequence, the slow and simple way. */
function common<T>(before: readonly T[], after: readonly T[]): number {
  let row = new Array<number>(after.length + 1).fill(0);
  for (const item of before) {
    const next = [0];
    after.forEach((other, j) =>
      next.push(item === other ? row[j] + 1 : Math.max(row[j + 1], next[j]))
    );
    row = next;
  }
  return row[after.length];
}

describe('hunks', () => {
  it('finds nothing where nothing differs', () => {
    expect(hunks([], [])).toEqual([]);
    expect(hunks(['a', 'b'], ['a', 'b'])).toEqual([]);
  });

  it('finds separate differences separately', () => {
    expect(hunks([...'abcdef'], [...'aBcdeXf'])).toEqual([
      { start: 1, end: 2, newStart: 1, newEnd: 2 },
      { start: 5, end: 5, newStart: 5, newEnd: 6 }
    ]);
  });

  it('makes the second of the first with as little as possible', () => {
    const random = new Random(1);
    for (let round = 0; round < 500; round++) {
      const some = (): string[] =>
        Array.from({ length: random.below(14) }, () => random.pick('abc'));
      const [before, after] = [some(), some()];
      const found = hunks(before, after);
      expect(apply(before, after, found)).toEqual(after);
      const removed = found.reduce(
        (sum, each) => sum + each.end - each.start,
        0
      );
      expect(before.length - removed).toBe(common(before, after));
    }
  });

  it('finds two far apart differences in a long sequence', () => {
    const before = Array.from({ length: 400_000 }, (_, index) => index);
    const after = before.map((each, index) =>
      index === 3 || index === 399_990 ? -each : each
    );
    expect(hunks(before, after)).toEqual([
      { start: 3, end: 4, newStart: 3, newEnd: 4 },
      { start: 399_990, end: 399_991, newStart: 399_990, newEnd: 399_991 }
    ]);
  });
});
