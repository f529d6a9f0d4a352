// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Token } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import type { ISignal } from '@lumino/signaling';

import type { IServerMeta } from '../protocol';

/** A request of the other side, to be answered at any later time. */
export interface IIncomingRequest {
  readonly id: string;
  readonly method: string;
  readonly params: unknown;
  respond(result: unknown): void;
  fail(code: number, message: string): void;
}

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
  /** Answer the server's requests of one method, until this is disposed. */
  addRequestHandler(
    method: string,
    handler: IAcpConnection.RequestHandler
  ): IDisposable;
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

  /** Answers a request, now or at any later time. */
  export type RequestHandler = (request: IIncomingRequest) => void;

  export interface IRequestOptions {
    signal?: AbortSignal;
  }
}

export const IAcpConnection = new Token<IAcpConnection>(
  'jupyter-acp-bridge:IAcpConnection',
  'The socket of this window to the Jupyter server, which speaks ACP.'
);
