// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { UUID } from '@lumino/coreutils';

import { type INotebookState, isSame } from '../diff/notebook';

/** What was in a document at some time. */
export type DocumentState = string | INotebookState;

/** Who reads a document usually writes it soon, or reads it again. */
const KEPT = 8;

/** What was handed out of one document, each under a name of its own. */
export class Versions {
  /** The name of a state: a new one unless it is the newest of all. */
  nameOf(state: DocumentState): string {
    const newest = [...this._states].at(-1);
    if (newest && isSame(newest[1], state)) {
      return newest[0];
    }
    const name = `${this._prefix}-${++this._count}`;
    this._states.set(name, state);
    if (this._states.size > KEPT) {
      const [oldest] = this._states.keys();
      this._states.delete(oldest);
    }
    return name;
  }

  get(name: string): DocumentState | undefined {
    return this._states.get(name);
  }

  private _count = 0;
  // A page that was loaded again must not take the names of the former one.
  private readonly _prefix = UUID.uuid4();
  private readonly _states = new Map<string, DocumentState>();
}
