// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Token } from '@lumino/coreutils';

import type { AcpPanel } from './panel';

/** For our own plugins; others get the narrow `IChatPanel`. */
export const IAcpPanel = new Token<AcpPanel>('jupyter-acp-bridge:IAcpPanel');
