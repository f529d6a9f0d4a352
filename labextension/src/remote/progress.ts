// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import type { IAcpConnection } from '../api/connection';
import {
  type IRemoteProgress,
  type IRemoteResult,
  type ISessionParams,
  Method
} from '../protocol';

/** How far git is in all that it does for this window, for as long as it does it. */
export class GitProgress implements IDisposable {
  constructor(connection: IAcpConnection) {
    connection.notified.connect(this._onNotified, this);
    connection.statusChanged.connect(this._onStatus, this);
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    Signal.clearData(this);
  }

  /** Nothing before git has said anything. */
  get(token: string): IRemoteProgress | undefined {
    return this._known.get(token);
  }

  /** What it belongs to is over. */
  forget(token: string): void {
    if (this._known.delete(token)) {
      this._changed.emit();
    }
  }

  private _onNotified(
    _: IAcpConnection,
    { method, params }: IAcpConnection.INotification
  ): void {
    if (method === Method.remoteProgress) {
      const progress = params as IRemoteProgress;
      this._known.set(progress.token, progress);
      this._changed.emit();
    } else if (method === Method.remoteResult) {
      const { sessionId, number, state } = params as ISessionParams &
        IRemoteResult;
      if (state !== 'fetching') {
        this.forget(resultToken(sessionId, number));
      }
    }
  }

  private _onStatus(_: IAcpConnection, status: IAcpConnection.Status): void {
    // Whatever goes on will be told again, and whatever ended will not.
    if (status === 'disconnected' && this._known.size > 0) {
      this._known.clear();
      this._changed.emit();
    }
  }

  private _isDisposed = false;
  private readonly _known = new Map<string, IRemoteProgress>();
  private readonly _changed = new Signal<this, void>(this);
}

/** What the server calls the fetching of a result. */
export function resultToken(sessionId: string, number: number): string {
  return `${sessionId}/${number}`;
}
