// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Token } from '@lumino/coreutils';

import type { Sessions } from './sessions';

/** For our own plugins; others get the narrow `ISessions`. */
export const ISessionStore = new Token<Sessions>(
  'jupyter-acp-bridge:ISessionStore'
);
