// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import type { IChatPanel } from '../api/chat';
import { RemoteSetup } from './setup';

/** The remote session that is about to start, of which there is one at a time. */
export class RemoteStart implements IDisposable {
  constructor(private readonly _sessions: RemoteSetup.ISessions) {}

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get setup(): RemoteSetup | null {
    return this._setup;
  }

  /** True if the panel shows its page. */
  get isShown(): boolean {
    return this._isShown;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this._setup?.dispose();
      Signal.clearData(this);
    }
  }

  /** Set one up; one that is starting is shown instead. */
  open(wanted: IChatPanel.IRemote): void {
    if (this._setup?.step) {
      this.show();
    } else {
      const sessions = this._sessions;
      this._replace(new RemoteSetup({ sessions, ...wanted }));
    }
  }

  show(): void {
    this._isShown = true;
    this._changed.emit();
  }

  /** Show something else; one that is starting goes on. */
  leave(): void {
    if (this._setup?.step) {
      this._isShown = false;
      this._changed.emit();
    } else {
      this.close();
    }
  }

  close(): void {
    this._replace(null);
  }

  private _replace(setup: RemoteSetup | null): void {
    this._setup?.dispose();
    this._setup = setup;
    this._isShown = setup !== null;
    this._changed.emit();
  }

  private _setup: RemoteSetup | null = null;
  private _isShown = false;
  private _isDisposed = false;
  private readonly _changed = new Signal<this, void>(this);
}
