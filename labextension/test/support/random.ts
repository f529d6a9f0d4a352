// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

/** The same numbers at every run (mulberry32), so that a failure repeats. */
export class Random {
  constructor(private _state: number) {}

  next(): number {
    this._state = (this._state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this._state ^ (this._state >>> 15), 1 | this._state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  pick<T>(from: ArrayLike<T>): T {
    return from[this.below(from.length)];
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }
}
