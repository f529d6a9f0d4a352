// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import type { ISession } from '../api/sessions';
import type { Decision, IChange, INamedChange } from './changes';

/** A session whose changes can be kept and undone. */
export interface IReviewed extends ISession {
  /** True if changes can be kept or undone one by one. */
  readonly mayDecide: boolean;
  /** Keep, undo or redo parts of a change; returns true if that was done. */
  decide(
    change: IChange,
    parts: readonly string[],
    decision: Decision
  ): Promise<boolean>;
  /** Decide the same about several changes. */
  decideAll(changes: readonly IChange[], decision: Decision): Promise<void>;
}

/** A change and the session that it is reviewed in. */
export interface IFoundChange {
  readonly session: IReviewed;
  readonly change: INamedChange;
}

/** Shows changes in tabs of the main area. */
export interface IChangeViewer {
  open(session: IReviewed, change: INamedChange): void;
}

interface IChangesContext {
  session: IReviewed;
  /** Absent where there are no tabs. */
  viewer?: IChangeViewer;
}

export const ChangesContext = React.createContext<IChangesContext | null>(null);

export function useChanges(): IChangesContext {
  const context = React.useContext(ChangesContext);
  if (!context) {
    throw new Error('A change was shown outside of a session.');
  }
  return context;
}
