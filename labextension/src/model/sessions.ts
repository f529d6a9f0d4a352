// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IStateDB } from '@jupyterlab/statedb';
import { DisposableSet } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import {
  type IAgent,
  type IMeta,
  type INewSessionResult,
  type IPromptCapabilities,
  type ISessionInfo,
  type ISessionParams,
  META_KEY,
  Method,
  ourMeta
} from '../protocol';
import type { AcpApi } from '../request';
import type { IAcpConnection, ISessions } from '../tokens';
import { SessionModel } from './session';

const LAST_SESSION = 'jupyter-acp-bridge:last-session';
const DRAFT = 'jupyter-acp-bridge:draft:';

/** Messages kept for sessions that have no model yet. */
const MAX_EARLY = 5000;

type Early = (model: SessionModel) => void;

/**
 * Hands each message to the session that it names and keeps every open
 * session attached over reconnects.
 */
export class Sessions implements ISessions {
  constructor(private readonly _options: Sessions.IOptions) {
    const { connection } = _options;
    connection.notified.connect(this._onNotified, this);
    connection.statusChanged.connect(this._onStatus, this);
    for (const method of [Method.requestPermission, Method.elicit]) {
      this._handlers.add(
        connection.addRequestHandler(method, request =>
          this._deliver(request.params, model => model.receiveRequest(request))
        )
      );
    }
  }

  get connection(): IAcpConnection {
    return this._options.connection;
  }

  get current(): SessionModel | null {
    return this._current;
  }

  get currentChanged(): ISignal<this, SessionModel | null> {
    return this._currentChanged;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    this._handlers.dispose();
    Signal.clearData(this);
    for (const model of this._models.values()) {
      model.dispose();
    }
    this._models.clear();
  }

  async create(agent?: string): Promise<SessionModel> {
    const { connection } = this._options;
    connection.connect();
    await connection.ready;
    const result = await connection.request<INewSessionResult>(
      Method.sessionNew,
      {
        cwd: connection.server.rootDir ?? '/',
        mcpServers: [],
        ...(agent ? toAgent(agent) : {})
      }
    );
    const { agent: chosen, agentCapabilities } = ourMeta<{
      agent: string;
      agentCapabilities: { promptCapabilities?: IPromptCapabilities };
    }>(result);
    const model = this._register(
      new SessionModel({
        connection,
        info: {
          id: result.sessionId,
          agent: chosen ?? agent ?? connection.server.defaultAgent ?? ''
        },
        setup: {
          ...result,
          promptCapabilities: agentCapabilities?.promptCapabilities
        }
      })
    );
    this._show(model);
    return model;
  }

  async open(id: string): Promise<SessionModel> {
    const known = this._models.get(id);
    if (known) {
      this._show(known);
      return known;
    }
    const { connection, storage } = this._options;
    connection.connect();
    await connection.ready;
    const model = this._register(
      new SessionModel({
        connection,
        info: { id, agent: '' },
        draft: storage?.getItem(DRAFT + id) ?? ''
      })
    );
    try {
      await model.attach();
    } catch (error) {
      this._models.delete(id);
      model.dispose();
      throw error;
    }
    this._show(model);
    return model;
  }

  async restore(): Promise<void> {
    const { state, storage } = this._options;
    // The workspace is saved with a delay, which a quick reload would beat.
    const id =
      storage?.getItem(LAST_SESSION) ?? (await state?.fetch(LAST_SESSION));
    if (typeof id === 'string' && id) {
      await this.open(id);
    }
  }

  clear(): void {
    this._show(null);
  }

  agents(): Promise<IAgent[]> {
    return this._options.api.agents();
  }

  list(): Promise<ISessionInfo[]> {
    return this._options.api.sessions();
  }

  restartAgent(id: string): Promise<void> {
    return this._options.api.restartAgent(id);
  }

  agentLog(id: string): Promise<string[]> {
    return this._options.api.agentLog(id);
  }

  async authenticate(
    id: string,
    methodId: string,
    options?: IAcpConnection.IRequestOptions
  ): Promise<void> {
    await this.connection.request(
      Method.authenticate,
      { methodId, ...toAgent(id) },
      options
    );
  }

  async logout(id: string): Promise<void> {
    await this.connection.request(Method.logout, toAgent(id));
  }

  async remove(id: string): Promise<void> {
    await this._options.api.deleteSession(id);
    const model = this._models.get(id);
    this._models.delete(id);
    this._options.storage?.removeItem(DRAFT + id);
    if (model && model === this._current) {
      this._show(null);
    }
    model?.dispose();
  }

  private _register(model: SessionModel): SessionModel {
    this._models.set(model.id, model);
    model.draftChanged.connect(this._saveDraft, this);
    const early = this._early.get(model.id) ?? [];
    this._early.delete(model.id);
    this._earlyCount -= early.length;
    for (const deliver of early) {
      deliver(model);
    }
    return model;
  }

  private _show(model: SessionModel | null): void {
    const { state, storage } = this._options;
    if (model) {
      storage?.setItem(LAST_SESSION, model.id);
      void state?.save(LAST_SESSION, model.id);
    } else {
      storage?.removeItem(LAST_SESSION);
      void state?.remove(LAST_SESSION);
    }
    if (model !== this._current) {
      this._current = model;
      this._currentChanged.emit(model);
    }
  }

  private _saveDraft(model: SessionModel, draft: string): void {
    const { storage } = this._options;
    try {
      storage?.removeItem(DRAFT + model.id);
      if (draft) {
        storage?.setItem(DRAFT + model.id, draft);
      }
    } catch {
      // Pictures can be more than a page may keep; it has them until it goes.
    }
  }

  private _onStatus(_: IAcpConnection, status: IAcpConnection.Status): void {
    if (status !== 'connected') {
      return;
    }
    for (const model of this._models.values()) {
      model.attach().catch(error => {
        model.report((error as Error).message);
      });
    }
  }

  private _onNotified(
    _: IAcpConnection,
    { method, params }: IAcpConnection.INotification
  ): void {
    this._deliver(params, model => model.receive(method, params));
  }

  /** An agent may speak before the answer that tells its session's id. */
  private _deliver(params: unknown, deliver: Early): void {
    const id = (params as Partial<ISessionParams> | undefined)?.sessionId;
    if (typeof id !== 'string') {
      return;
    }
    const model = this._models.get(id);
    if (model) {
      deliver(model);
    } else if (this._earlyCount < MAX_EARLY) {
      this._earlyCount++;
      const early = this._early.get(id);
      if (early) {
        early.push(deliver);
      } else {
        this._early.set(id, [deliver]);
      }
    }
  }

  private _current: SessionModel | null = null;
  private _isDisposed = false;
  private _earlyCount = 0;
  private readonly _handlers = new DisposableSet();
  private readonly _models = new Map<string, SessionModel>();
  private readonly _early = new Map<string, Early[]>();
  private readonly _currentChanged = new Signal<this, SessionModel | null>(
    this
  );
}

/** Says to which agent a request goes. */
function toAgent(agent: string): IMeta {
  return { _meta: { [META_KEY]: { agent } } };
}

export namespace Sessions {
  export interface IOptions {
    connection: IAcpConnection;
    api: AcpApi;
    /** Remembers the last session of a workspace. */
    state?: IStateDB;
    /** Remembers what this window shows and what was typed in it. */
    storage?: Storage;
  }
}
