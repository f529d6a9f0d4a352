// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import type { SessionModel } from '../model/session';

export const SessionContext = React.createContext<SessionModel | null>(null);

/** The session that a component is shown in. */
export function useSession(): SessionModel {
  const model = React.useContext(SessionContext);
  if (!model) {
    throw new Error('A component of a session was used outside of one.');
  }
  return model;
}
