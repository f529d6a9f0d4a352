// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

/** Does something that an agent may refuse for want of a login, and shows how it goes. */
export type Attempt = (
  /** What is being done, in words for the person. */
  words: string,
  work: () => Promise<unknown>
) => Promise<void>;

/** Given by the panel, which has a place for logins and problems; null elsewhere. */
export const AttemptContext = React.createContext<Attempt | null>(null);
