// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Token } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import type { ISignal } from '@lumino/signaling';

import type { SessionModel } from './model/session';
import type { IAgent, ISessionInfo, IServerMeta } from './protocol';
import type { IIncomingRequest } from './rpc';

/** The window's socket to the server. */
export interface IAcpConnection extends IDisposable {
  readonly status: IAcpConnection.Status;
  readonly statusChanged: ISignal<IAcpConnection, IAcpConnection.Status>;
  /** Emitted for each notification, in the order in which it arrived. */
  readonly notified: ISignal<IAcpConnection, IAcpConnection.INotification>;
  /** What the server told about itself; empty before the first connection. */
  readonly server: Partial<IServerMeta>;
  /** Resolves at the first successful connection. */
  readonly ready: Promise<void>;
  connect(): void;
  setRequestHandler(handler: IAcpConnection.RequestHandler): void;
  request<T>(
    method: string,
    params: unknown,
    options?: IAcpConnection.IRequestOptions
  ): Promise<T>;
  notify(method: string, params: unknown): void;
}

export namespace IAcpConnection {
  export type Status = 'connecting' | 'connected' | 'disconnected';

  export interface INotification {
    method: string;
    params: unknown;
  }

  /** Returns false for a request that it does not know. */
  export type RequestHandler = (request: IIncomingRequest) => boolean;

  export interface IRequestOptions {
    signal?: AbortSignal;
  }
}

export const IAcpConnection = new Token<IAcpConnection>(
  'jupyter-acp-bridge:IAcpConnection',
  'The socket of this window to the Jupyter server, which speaks ACP.'
);

/** The sessions that this window follows, and those that it could open. */
export interface ISessions extends IDisposable {
  readonly connection: IAcpConnection;
  /** The session that the chat shows, if any. */
  readonly current: SessionModel | null;
  readonly currentChanged: ISignal<ISessions, SessionModel | null>;
  /** Start a session with an agent (the server's default if none is named). */
  create(agent?: string): Promise<SessionModel>;
  /** Follow a session that exists, from its first message. */
  open(id: string): Promise<SessionModel>;
  /** Show the last session of this workspace again, if it still exists. */
  restore(): Promise<void>;
  /** Show the welcome page. */
  clear(): void;
  agents(): Promise<IAgent[]>;
  list(): Promise<ISessionInfo[]>;
  restartAgent(id: string): Promise<void>;
  remove(id: string): Promise<void>;
}

export const ISessions = new Token<ISessions>(
  'jupyter-acp-bridge:ISessions',
  'The ACP sessions of this window.'
);
