// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Token } from '@lumino/coreutils';
import type { ISignal } from '@lumino/signaling';

import type { ISessionInfo } from '../protocol';

/** A command of an agent. */
export interface IAgentCommand {
  /** Without the slash. */
  readonly name: string;
  readonly description: string;
  readonly input?: { readonly hint: string } | null;
}

/** A session as this window follows it. */
export interface ISession {
  readonly id: string;
  readonly info: ISessionInfo;
  /** The commands of the agent, which messages begin with. */
  readonly commands: readonly IAgentCommand[];
  /** True while a turn runs, or a message is on its way to the agent. */
  readonly isBusy: boolean;
  /** Emitted when something that is shown may have changed. */
  readonly changed: ISignal<ISession, void>;
  /** Send a message; resolves at the end of its turn, and rejects if it was not taken. */
  send(text: string): Promise<void>;
  /** Stop the turn. */
  cancel(): void;
}

/** Every session of the server. */
export interface ISessionList {
  /** The latest first. */
  readonly all: readonly ISessionInfo[];
  readonly changed: ISignal<ISessionList, void>;
  get(id: string): ISessionInfo | undefined;
}

/** The sessions with agents. */
export interface ISessions {
  readonly list: ISessionList;
  /** The session in the side panel, or null if it shows the list. */
  readonly current: ISession | null;
  readonly currentChanged: ISignal<ISessions, ISession | null>;
  /** Start a session with an agent, or with the default agent, and show it. */
  create(agent?: string): Promise<ISession>;
  /** Show a session in the side panel. */
  open(id: string): Promise<ISession>;
}

export const ISessions = new Token<ISessions>(
  'jupyter-acp-bridge:ISessions',
  'The sessions with agents.'
);
