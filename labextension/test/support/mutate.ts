// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { Random } from './random';

/** Values that are wrong nearly everywhere. */
const WRONG: readonly unknown[] = [
  null,
  true,
  -1,
  1e300,
  '',
  'constructor',
  '\u202e',
  [],
  [null],
  {},
  { type: 'text' },
  { toString: 1 }
];

/** A copy of a JSON value with some parts replaced, removed or repeated. */
export function mutated(value: unknown, random: Random, odds = 0.06): unknown {
  if (random.chance(odds)) {
    return random.pick(WRONG);
  }
  if (Array.isArray(value)) {
    const parts = value.map(part => mutated(part, random, odds));
    return random.chance(odds) ? [...parts, ...parts] : parts;
  }
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value)
        .filter(() => !random.chance(odds))
        .map(([key, part]) => [key, mutated(part, random, odds)])
    );
  }
  return value;
}
