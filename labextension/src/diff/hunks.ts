// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

/** Items `start` to `end` became items `newStart` to `newEnd`. */
export interface IHunk {
  start: number;
  end: number;
  newStart: number;
  newEnd: number;
}

/**
 * Above this many single differences the search is given up: its memory
 * grows with their square (16 MB here), and little would be left in common.
 */
const MAX_DIFFERENCES = 2000;

/** Where two sequences differ: as little as possible, in ascending order. */
export function hunks<T>(before: readonly T[], after: readonly T[]): IHunk[] {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) {
    head++;
  }
  let tail = 0;
  while (
    tail < shorter - head &&
    before.at(-1 - tail) === after.at(-1 - tail)
  ) {
    tail++;
  }
  return middle(
    before.slice(head, before.length - tail),
    after.slice(head, after.length - tail)
  ).map(hunk => ({
    start: hunk.start + head,
    end: hunk.end + head,
    newStart: hunk.newStart + head,
    newEnd: hunk.newEnd + head
  }));
}

/** The items that no hunk covers, by their places before and after. */
export function* unchanged(
  found: readonly IHunk[],
  length: number
): Generator<[number, number]> {
  let [at, newAt] = [0, 0];
  const rest = { start: length, end: length, newEnd: 0 };
  for (const { start, end, newEnd } of [...found, rest]) {
    while (at < start) {
      yield [at++, newAt++];
    }
    [at, newAt] = [end, newEnd];
  }
}

/** The lines of a text with their ends, of which the last may have none. */
export function lines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/**
 * Myers' greedy search. On diagonal k (items read before minus items read
 * after) `reach[k]` is how far into `before` one gets with d differences.
 */
function middle<T>(before: readonly T[], after: readonly T[]): IHunk[] {
  const [n, m] = [before.length, after.length];
  if (!n && !m) {
    return [];
  }
  const whole = [{ start: 0, end: n, newStart: 0, newEnd: m }];
  if (!n || !m) {
    return whole;
  }
  const most = Math.min(n + m, MAX_DIFFERENCES);
  const zero = most + 1;
  const reach = new Int32Array(2 * zero + 1);
  const history: Int32Array[] = [];
  for (let d = 0; d <= most; d++) {
    history.push(reach.slice(zero - d - 1, zero + d + 2));
    for (let k = -d; k <= d; k += 2) {
      let x = isInsertion(reach, zero, d, k)
        ? reach[zero + k + 1]
        : reach[zero + k - 1] + 1;
      while (x < n && x - k < m && before[x] === after[x - k]) {
        x++;
      }
      reach[zero + k] = x;
      if (x >= n && x - k >= m) {
        return backtrack(history, n, m);
      }
    }
  }
  return whole;
}

/** Whether diagonal k is best reached by one more item of `after`. */
function isInsertion(
  reach: Int32Array,
  zero: number,
  d: number,
  k: number
): boolean {
  return k === -d || (k !== d && reach[zero + k - 1] < reach[zero + k + 1]);
}

function backtrack(history: Int32Array[], n: number, m: number): IHunk[] {
  const found: IHunk[] = [];
  let x = n;
  let k = n - m;
  for (let d = history.length - 1; d > 0; d--) {
    const reach = history[d];
    const zero = d + 1;
    const isInserted = isInsertion(reach, zero, d, k);
    k += isInserted ? 1 : -1;
    x = reach[zero + k];
    const y = x - k;
    const end = isInserted ? x : x + 1;
    const newEnd = isInserted ? y + 1 : y;
    const next = found.at(-1);
    if (next && next.start === end && next.newStart === newEnd) {
      next.start = x;
      next.newStart = y;
    } else {
      found.push({ start: x, end, newStart: y, newEnd });
    }
  }
  return found.reverse();
}
