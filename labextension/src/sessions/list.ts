// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import type { IAcpConnection } from '../api/connection';
import type { AcpApi } from '../connection/rest';
import { type ISessionInfo, Method } from '../protocol';

export type SessionStatus =
  'waiting' | 'running' | 'failed' | 'done' | 'ready' | 'closed';

/** What a person wants to know of a session at first sight. */
export function statusOf(session: ISessionInfo): SessionStatus {
  if (session.waiting) {
    return 'waiting';
  }
  if (session.state === 'running' || session.state === 'closed') {
    return session.state;
  }
  if (session.failed) {
    return 'failed';
  }
  return session.stopReason ? 'done' : 'ready';
}

/**
 * Every session of the server. It is loaded whenever the window connects;
 * after that, the server tells what changes.
 */
export class SessionList implements IDisposable {
  constructor(private readonly _options: SessionList.IOptions) {
    const { connection } = _options;
    connection.notified.connect(this._onNotified, this);
    connection.statusChanged.connect(this._onStatus, this);
  }

  /** The latest first. */
  get all(): readonly ISessionInfo[] {
    this._sorted ??= [...this._sessions.values()].sort((one, other) =>
      (other.updated ?? '').localeCompare(one.updated ?? '')
    );
    return this._sorted;
  }

  get isLoaded(): boolean {
    return this._isLoaded;
  }

  /** Why it could not be loaded, in words for the person. */
  get problem(): string {
    return this._problem;
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Emitted for each session of which something is new. */
  get sessionChanged(): ISignal<this, SessionList.IChange> {
    return this._sessionChanged;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    Signal.clearData(this);
  }

  /** By its id, or by the one that it was wanted to have. */
  get(id: string): ISessionInfo | undefined {
    return (
      this._sessions.get(id) ?? this.all.find(session => session.alias === id)
    );
  }

  async load(): Promise<void> {
    const attempt = ++this._attempt;
    const news = (this._news = new Map<string, ISessionInfo | undefined>());
    let problem = '';
    try {
      const loaded = await this._options.api.sessions();
      if (attempt === this._attempt) {
        this._replace(loaded, news);
      }
    } catch (error) {
      problem = (error as Error).message;
    }
    if (attempt === this._attempt && !this._isDisposed) {
      this._problem = problem;
      this._news = null;
      this._changed.emit();
    }
  }

  /** Take over what is known of a session now. */
  take(session: ISessionInfo): void {
    this._set(session.id, session);
    this._changed.emit();
  }

  /** Remove a session that was deleted. */
  drop(id: string): void {
    this._set(id, undefined);
    this._changed.emit();
  }

  private _replace(
    loaded: ISessionInfo[],
    news: Map<string, ISessionInfo | undefined>
  ): void {
    // What the server told meanwhile is newer than what it answered.
    const now = new Map<string, ISessionInfo | undefined>(
      loaded.map(session => [session.id, session])
    );
    for (const [id, session] of news) {
      now.set(id, session);
    }
    this._isLoaded = true;
    for (const id of [...this._sessions.keys()]) {
      if (!now.has(id)) {
        this._set(id, undefined);
      }
    }
    for (const [id, session] of now) {
      this._set(id, session);
    }
  }

  private _set(id: string, after: ISessionInfo | undefined): void {
    const before = this._sessions.get(id);
    if (after) {
      this._sessions.set(id, after);
    } else {
      this._sessions.delete(id);
    }
    this._news?.set(id, after);
    this._sorted = null;
    this._sessionChanged.emit({ id, before, after });
  }

  private _onNotified(
    _: IAcpConnection,
    { method, params }: IAcpConnection.INotification
  ): void {
    if (method === Method.sessionsChanged) {
      this.take((params as { session: ISessionInfo }).session);
    } else if (method === Method.sessionsRemoved) {
      this.drop((params as { sessionId: string }).sessionId);
    }
  }

  private _onStatus(_: IAcpConnection, status: IAcpConnection.Status): void {
    if (status === 'connected') {
      void this.load();
    }
  }

  private _isLoaded = false;
  private _isDisposed = false;
  private _problem = '';
  private _attempt = 0;
  private _sorted: ISessionInfo[] | null = null;
  /** What has changed since the list was asked for. */
  private _news: Map<string, ISessionInfo | undefined> | null = null;
  private readonly _sessions = new Map<string, ISessionInfo>();
  private readonly _changed = new Signal<this, void>(this);
  private readonly _sessionChanged = new Signal<this, SessionList.IChange>(
    this
  );
}

export namespace SessionList {
  export interface IOptions {
    connection: IAcpConnection;
    api: Pick<AcpApi, 'sessions'>;
  }

  /** A session that is new has no `before`, one that is gone no `after`. */
  export interface IChange {
    id: string;
    before?: ISessionInfo;
    after?: ISessionInfo;
  }
}
