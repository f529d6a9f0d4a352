// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IIncomingRequest } from '../api/connection';
import { ErrorCode, Method } from '../protocol';

/** An error that the other side answered with; its message is for people. */
export class RpcError extends Error {
  constructor(
    message: string,
    readonly code: number,
    readonly data?: unknown
  ) {
    super(withDetails(message, data));
    this.name = 'RpcError';
  }
}

/** Many agents say only "Internal error" and put what happened into the data. */
function withDetails(message: string, data: unknown): string {
  const details =
    typeof data === 'string' ? data : (data as { details?: unknown })?.details;
  return typeof details === 'string' && !message.includes(details)
    ? `${message}: ${details}`
    : message;
}

/** The socket went away: whether the other side acted is not known. */
export class ConnectionLostError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ConnectionLostError';
  }
}

type Id = string | number;

interface IMessage {
  jsonrpc: '2.0';
  id?: Id;
  method?: string;
  params?: unknown;
  result?: unknown;
  error?: { code: number; message: string; data?: unknown };
}

interface IPending {
  resolve: (value: unknown) => void;
  reject: (error: Error) => void;
}

/**
 * JSON-RPC 2.0 in both directions over anything that carries text.
 *
 * One peer lives as long as one socket, so that an answer meant for an old
 * socket can never reach a new one.
 */
export class RpcPeer {
  constructor(private readonly _options: RpcPeer.IOptions) {}

  /** Feed one frame: one message, or several separated by newlines. */
  receive(frame: string): void {
    let start = 0;
    while (start < frame.length) {
      let end = frame.indexOf('\n', start);
      if (end < 0) {
        end = frame.length;
      }
      if (end > start) {
        this._receiveOne(frame.slice(start, end));
      }
      start = end + 1;
    }
  }

  request<T>(
    method: string,
    params: unknown,
    options: RpcPeer.IRequestOptions = {}
  ): Promise<T> {
    const { signal } = options;
    return new Promise<T>((resolve, reject) => {
      if (this._closed) {
        reject(this._closed);
        return;
      }
      const id = this._nextId++;
      const onAbort = () =>
        this.notify(Method.cancelRequest, { requestId: id });
      const settle = () => signal?.removeEventListener('abort', onAbort);
      this._pending.set(id, {
        resolve: value => {
          settle();
          resolve(value as T);
        },
        reject: error => {
          settle();
          reject(error);
        }
      });
      this._send({ jsonrpc: '2.0', id, method, params });
      signal?.addEventListener('abort', onAbort);
    });
  }

  notify(method: string, params: unknown): void {
    if (!this._closed) {
      this._send({ jsonrpc: '2.0', method, params });
    }
  }

  /** Reject what is pending and refuse whatever comes after. */
  close(reason: Error): void {
    if (this._closed) {
      return;
    }
    this._closed = reason;
    const pending = [...this._pending.values()];
    this._pending.clear();
    for (const { reject } of pending) {
      reject(reason);
    }
  }

  private _send(message: IMessage): void {
    this._options.send(JSON.stringify(message));
  }

  private _receiveOne(text: string): void {
    let message: IMessage;
    try {
      message = JSON.parse(text) as IMessage;
    } catch {
      console.warn('jupyter-acp: ignored a message that is not JSON');
      return;
    }
    if (!message || typeof message !== 'object') {
      return;
    }
    if (typeof message.method === 'string') {
      if (message.id === undefined || message.id === null) {
        this._options.onNotification(message.method, message.params);
      } else {
        this._incoming(message.id, message.method, message.params);
      }
    } else if (message.id !== undefined) {
      this._settle(message);
    }
  }

  private _settle(message: IMessage): void {
    const pending = this._pending.get(message.id as Id);
    if (!pending) {
      console.warn(`jupyter-acp: no request waits for answer ${message.id}`);
      return;
    }
    this._pending.delete(message.id as Id);
    if (message.error) {
      const { code, message: text, data } = message.error;
      pending.reject(new RpcError(text, code, data));
    } else {
      pending.resolve(message.result);
    }
  }

  private _incoming(id: Id, method: string, params: unknown): void {
    let answered = false;
    const answer = (part: Pick<IMessage, 'result' | 'error'>) => {
      if (!answered && !this._closed) {
        answered = true;
        this._send({ jsonrpc: '2.0', id, ...part });
      }
    };
    const taken = this._options.onRequest({
      id: String(id),
      method,
      params,
      respond: result => answer({ result }),
      fail: (code, message) => answer({ error: { code, message } })
    });
    if (!taken) {
      answer({
        error: {
          code: ErrorCode.methodNotFound,
          message: `This window does not know the method "${method}".`
        }
      });
    }
  }

  private _nextId = 1;
  private _closed: Error | null = null;
  private readonly _pending = new Map<Id, IPending>();
}

export namespace RpcPeer {
  export interface IOptions {
    send: (text: string) => void;
    onNotification: (method: string, params: unknown) => void;
    /** Return false for a request that nobody here can answer. */
    onRequest: (request: IIncomingRequest) => boolean;
  }

  export interface IRequestOptions {
    /** Asks the other side to cancel; its answer still settles the promise. */
    signal?: AbortSignal;
  }
}
