// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import type { ISession } from '../api/sessions';

export const SessionContext = React.createContext<ISession | null>(null);

/** The session that a component is shown in. */
export function useSession(): ISession {
  const session = React.useContext(SessionContext);
  if (!session) {
    throw new Error('A component of a session was used outside of one.');
  }
  return session;
}
