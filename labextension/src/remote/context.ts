// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import type { Results } from './results';

export const ResultsContext = React.createContext<Results | null>(null);

/** The results of the session that a component is shown in. */
export function useResults(): Results {
  const results = React.useContext(ResultsContext);
  if (!results) {
    throw new Error('A result was shown outside of a session.');
  }
  return results;
}
