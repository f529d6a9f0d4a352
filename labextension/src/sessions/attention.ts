// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import { type SessionList, type SessionStatus, statusOf } from './list';

/** What became of a session while nobody looked at it. */
export interface IOccasion {
  id: string;
  status: Extract<SessionStatus, 'waiting' | 'done' | 'failed'>;
}

/**
 * Which sessions the person should look at, because they wait or are done,
 * and cannot know of, because they are not to be seen.
 */
export class Attention implements IDisposable {
  constructor(private readonly _options: Attention.IOptions) {
    _options.list.sessionChanged.connect(this._onSession, this);
  }

  /** How many sessions wait for the person. */
  get waiting(): number {
    return this._options.list.all.filter(
      session => statusOf(session) === 'waiting'
    ).length;
  }

  get called(): ISignal<this, IOccasion> {
    return this._called;
  }

  /** Emitted when a session needs no attention any more, or has it. */
  get settled(): ISignal<this, string> {
    return this._settled;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    Signal.clearData(this);
  }

  /** Tell which session a view shows to the person now, if any. */
  look(view: object, id: string | null): void {
    if (id === null) {
      this._seen.delete(view);
    } else {
      this._seen.set(view, id);
      this._settle(id);
    }
  }

  isSeen(id: string): boolean {
    return [...this._seen.values()].includes(id);
  }

  private _onSession(
    _: SessionList,
    { id, before, after }: SessionList.IChange
  ): void {
    const was = before && statusOf(before);
    const is = after && statusOf(after);
    if (is === was) {
      return;
    }
    this._settle(id);
    if (!was || this.isSeen(id)) {
      return;
    }
    // Somebody has to answer; but an end is news only where it is awaited.
    const isEnd =
      (is === 'done' || is === 'failed') &&
      was !== 'closed' &&
      this._options.isAwaited(id);
    if (is === 'waiting' || isEnd) {
      this._open.add(id);
      this._called.emit({ id, status: is });
    }
  }

  private _settle(id: string): void {
    if (this._open.delete(id)) {
      this._settled.emit(id);
    }
  }

  private _isDisposed = false;
  private readonly _seen = new Map<object, string>();
  private readonly _open = new Set<string>();
  private readonly _called = new Signal<this, IOccasion>(this);
  private readonly _settled = new Signal<this, string>(this);
}

export namespace Attention {
  export interface IOptions {
    list: SessionList;
    /** Whether the person has worked with a session in this window. */
    isAwaited: (id: string) => boolean;
  }
}
