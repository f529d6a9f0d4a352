// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { URLExt } from '@jupyterlab/coreutils';
import type { ServerConnection } from '@jupyterlab/services';
import { PromiseDelegate } from '@lumino/coreutils';
import { DisposableDelegate, type IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import type { IAcpConnection } from '../api/connection';
import {
  type IInitializeResult,
  type IServerMeta,
  META_KEY,
  Method,
  PROTOCOL_VERSION,
  ourMeta
} from '../protocol';
import { ConnectionLostError, RpcPeer } from './rpc';

/** Several messages in one frame: what the server can send in one write. */
const SUBPROTOCOL = 'acp.ndjson';

const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 30_000;

/**
 * The one socket of this window to the server, opened again whenever it is
 * lost. It carries messages and knows nothing of what they mean.
 */
export class AcpConnection implements IAcpConnection {
  constructor(private readonly _options: AcpConnection.IOptions) {}

  get status(): IAcpConnection.Status {
    return this._status;
  }

  get statusChanged(): ISignal<this, IAcpConnection.Status> {
    return this._statusChanged;
  }

  get notified(): ISignal<this, IAcpConnection.INotification> {
    return this._notified;
  }

  get server(): Partial<IServerMeta> {
    return this._server;
  }

  get ready(): Promise<void> {
    return this._ready.promise;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** Open the socket; later calls do nothing. */
  connect(): void {
    if (!this._started && !this._isDisposed) {
      this._started = true;
      globalThis.addEventListener?.('online', this._retryNow);
      this._open();
    }
  }

  addRequestHandler(
    method: string,
    handler: IAcpConnection.RequestHandler
  ): IDisposable {
    if (this._handlers.has(method)) {
      throw new Error(`Somebody answers ${method} already.`);
    }
    this._handlers.set(method, handler);
    return new DisposableDelegate(() => this._handlers.delete(method));
  }

  request<T>(
    method: string,
    params: unknown,
    options?: IAcpConnection.IRequestOptions
  ): Promise<T> {
    if (!this._peer || this._status !== 'connected') {
      return Promise.reject(this._lost());
    }
    return this._peer.request<T>(method, params, options);
  }

  notify(method: string, params: unknown): void {
    if (this._status === 'connected') {
      this._peer?.notify(method, params);
    }
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    globalThis.removeEventListener?.('online', this._retryNow);
    clearTimeout(this._timer);
    this._drop();
    Signal.clearData(this);
  }

  private _open(): void {
    clearTimeout(this._timer);
    this._timer = undefined;
    this._setStatus('connecting');
    const { settings } = this._options;
    let url = URLExt.join(settings.wsUrl, 'acp', 'ws');
    if (settings.appendToken && settings.token !== '') {
      url += `?token=${encodeURIComponent(settings.token)}`;
    }
    const socket = new settings.WebSocket(url, [SUBPROTOCOL]);
    const peer = new RpcPeer({
      send: text => socket.send(text),
      onNotification: (method, params) =>
        this._notified.emit({ method, params }),
      onRequest: request => {
        const handler = this._handlers.get(request.method);
        handler?.(request);
        return handler !== undefined;
      }
    });
    this._socket = socket;
    this._peer = peer;
    socket.onopen = () => void this._initialize(peer);
    socket.onmessage = event => {
      if (this._peer === peer) {
        peer.receive(event.data as string);
      }
    };
    socket.onclose = () => {
      if (this._socket === socket) {
        this._retry();
      }
    };
  }

  private async _initialize(peer: RpcPeer): Promise<void> {
    try {
      const result = await peer.request<IInitializeResult>(Method.initialize, {
        protocolVersion: PROTOCOL_VERSION,
        clientInfo: this._options.clientInfo,
        clientCapabilities: { _meta: { [META_KEY]: {} } }
      });
      if (this._peer !== peer) {
        return;
      }
      this._server = ourMeta<IServerMeta>(result);
      this._attempt = 0;
      this._setStatus('connected');
      this._ready.resolve();
    } catch (error) {
      if (this._peer === peer) {
        console.error('jupyter-acp: the server refused to initialize', error);
        this._retry();
      }
    }
  }

  private _retry(): void {
    this._drop();
    if (this._isDisposed) {
      return;
    }
    const { random = Math.random, firstDelay = FIRST_DELAY_MS } = this._options;
    const longest = Math.min(
      LONGEST_DELAY_MS,
      firstDelay * 2 ** this._attempt++
    );
    // Jitter, so that a restarted server does not meet every window at once.
    const delay = longest * (0.5 + random() / 2);
    this._timer = setTimeout(() => this._open(), delay);
    this._setStatus('disconnected');
  }

  private readonly _retryNow = (): void => {
    if (this._status === 'disconnected') {
      this._attempt = 0;
      this._open();
    }
  };

  private _drop(): void {
    const socket = this._socket;
    const peer = this._peer;
    this._socket = null;
    this._peer = null;
    if (socket) {
      socket.onopen = socket.onmessage = socket.onclose = null;
      socket.close();
    }
    peer?.close(this._lost());
  }

  private _lost(): Error {
    return new ConnectionLostError(this._options.lostMessage);
  }

  private _setStatus(status: IAcpConnection.Status): void {
    if (status !== this._status) {
      this._status = status;
      this._statusChanged.emit(status);
    }
  }

  private _status: IAcpConnection.Status = 'disconnected';
  private _server: Partial<IServerMeta> = {};
  private _socket: WebSocket | null = null;
  private _peer: RpcPeer | null = null;
  private readonly _handlers = new Map<string, IAcpConnection.RequestHandler>();
  private _attempt = 0;
  private _timer: ReturnType<typeof setTimeout> | undefined;
  private _started = false;
  private _isDisposed = false;
  private readonly _ready = new PromiseDelegate<void>();
  private readonly _statusChanged = new Signal<this, IAcpConnection.Status>(
    this
  );
  private readonly _notified = new Signal<this, IAcpConnection.INotification>(
    this
  );
}

export namespace AcpConnection {
  export interface IOptions {
    settings: ServerConnection.ISettings;
    clientInfo: { name: string; title: string; version: string };
    /** What a request that met no socket is rejected with, for people. */
    lostMessage: string;
    /** Milliseconds before the first new attempt; doubles up to 30 s. */
    firstDelay?: number;
    random?: () => number;
  }
}
