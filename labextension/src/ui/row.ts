// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

/** One of many things that are shown one below the other. */
export interface IRow {
  /** Unique among them, and the same on every replay. */
  readonly key: number;
  /** Grows with each change: rows change in place. */
  revision: number;
}
