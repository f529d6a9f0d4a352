// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Token } from '@lumino/coreutils';

import type { IAgent } from '../protocol';
import type { IAcpConnection } from './connection';

/** The agents of the server. */
export interface IAgents {
  /** Every agent that may be used, also those that are not installed. */
  list(): Promise<IAgent[]>;
  restart(id: string): Promise<void>;
  /** The last output of an agent, line by line. */
  log(id: string): Promise<string[]>;
  /** Log in to an agent by one of its own methods. */
  authenticate(
    id: string,
    methodId: string,
    options?: IAcpConnection.IRequestOptions
  ): Promise<void>;
  logout(id: string): Promise<void>;
}

export const IAgents = new Token<IAgents>(
  'jupyter-acp-bridge:IAgents',
  'The agents of the Jupyter server.'
);
