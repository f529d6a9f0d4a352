// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IStateDB } from '@jupyterlab/statedb';
import { DisposableSet } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';
import type { PromptCapabilities } from '@agentclientprotocol/sdk';

import type { IChatSettings } from '../api/chat';
import type { IAcpConnection } from '../api/connection';
import type { ISessions } from '../api/sessions';
import type { AcpApi } from '../connection/rest';
import { ContextProviders } from '../prompt/carrying';
import { AGENT_COMMANDS, PromptProviders } from '../prompt/suggesting';
import {
  type IMeta,
  type INewSessionResult,
  type ISessionInfo,
  type ISessionParams,
  META_KEY,
  Method,
  ourMeta
} from '../protocol';
import { GitProgress } from '../remote/progress';
import type { IRemoteSession } from '../remote/setup';
import { Archive } from './archive';
import { Attention } from './attention';
import { Drafts } from './drafts';
import { SessionList } from './list';
import type { SessionModel } from './session';
import { TabStore } from './tabstore';

/** Messages kept for sessions that have no model yet. */
const MAX_EARLY = 5000;

type Early = (model: SessionModel) => void;

/**
 * Hands each message to the session that it names, keeps every open session
 * attached over reconnects, and remembers which ones are open.
 */
export class Sessions implements ISessions {
  constructor(private readonly _options: Sessions.IOptions) {
    const { connection, api } = _options;
    this.list = new SessionList({ connection, api });
    this.archive = new Archive({ connection, api, list: this.list });
    this._drafts = new Drafts(_options.storage);
    this._tabStore = new TabStore(_options.storage, _options.state);
    this.attention = new Attention({
      list: this.list,
      isAwaited: id => this._wasOpen.has(id)
    });
    this.progress = new GitProgress(connection);
    this.list.changed.connect(this._onList, this);
    this.list.sessionChanged.connect((_, { id, after }) => {
      if (!after) {
        this._drafts.drop(id);
      }
    });
    connection.notified.connect(this._onNotified, this);
    connection.statusChanged.connect(this._onStatus, this);
    for (const method of [Method.requestPermission, Method.elicit]) {
      this._handlers.add(
        connection.addRequestHandler(method, request =>
          this._deliver(request.params, model => model.receiveRequest(request))
        )
      );
    }
    this._wasOpen = new Set(this._tabStore.reloaded().tabs);
    this.suggestions.add(AGENT_COMMANDS);
  }

  readonly list: SessionList;
  readonly archive: Archive;
  readonly attention: Attention;
  readonly progress: GitProgress;
  /** What messages can carry along. */
  readonly contexts = new ContextProviders();
  /** What is suggested while a message is typed. */
  readonly suggestions = new PromptProviders();

  get connection(): IAcpConnection {
    return this._options.connection;
  }

  get isGuest(): boolean {
    return this.connection.server.mayAct === false;
  }

  get current(): SessionModel | null {
    return this._current;
  }

  get currentChanged(): ISignal<this, SessionModel | null> {
    return this._currentChanged;
  }

  get tabs(): readonly string[] {
    return this._tabs;
  }

  get tabsChanged(): ISignal<this, void> {
    return this._tabsChanged;
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
    this.list.dispose();
    this._drafts.dispose();
    this.attention.dispose();
    this.progress.dispose();
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
    return this._begin(result, agent);
  }

  async createRemote(
    { agent, cwd, ref, folder, progressToken }: IRemoteSession,
    options?: IAcpConnection.IRequestOptions
  ): Promise<SessionModel> {
    const result = await this.connection.request<INewSessionResult>(
      Method.sessionNew,
      {
        cwd,
        mcpServers: [],
        remote: ref,
        // What comes back is for the files here: they are its home.
        _meta: {
          [META_KEY]: { agent, remote: ref, home: true, folder, progressToken }
        }
      },
      options
    );
    return this._begin(result, agent);
  }

  async fork(id: string): Promise<SessionModel> {
    const { connection } = this._options;
    const result = await connection.request<INewSessionResult>(
      Method.sessionFork,
      {
        sessionId: id,
        cwd: this.list.get(id)?.cwd ?? connection.server.rootDir ?? '/'
      }
    );
    return this._begin(result);
  }

  async open(id: string): Promise<SessionModel> {
    const model = await this.follow(id);
    this._main.delete(model.id);
    this._show(model);
    return model;
  }

  async follow(wanted: string): Promise<SessionModel> {
    const known = this._models.get(wanted);
    if (known) {
      return known;
    }
    const { connection } = this._options;
    connection.connect();
    await connection.ready;
    const { SessionModel } = await import('./session');
    const id = this.list.get(wanted)?.id ?? wanted;
    const raced = this._models.get(id);
    if (raced) {
      return raced;
    }
    this._left.delete(id);
    const model = this._register(
      new SessionModel({
        connection,
        progress: this.progress,
        settings: this._options.settings,
        contexts: this.contexts,
        info: this.list.get(id) ?? { id, agent: '' },
        draft: this._drafts.get(id)
      })
    );
    try {
      await model.attach();
    } catch (error) {
      this._models.delete(id);
      model.dispose();
      throw error;
    }
    return model;
  }

  /** A session as it is now: the list hears of its state a moment later. */
  info(id: string): ISessionInfo | undefined {
    const model = this._models.get(id);
    const known = this.list.get(id) ?? model?.info;
    return known && model
      ? {
          ...known,
          state: model.isBusy ? 'running' : model.transcript.state,
          waiting: model.requests.length
        }
      : known;
  }

  isInMain(id: string): boolean {
    return this._main.has(id);
  }

  setInMain(id: string, isInMain: boolean): void {
    if (isInMain) {
      this._main.add(id);
      this._wasOpen.add(id);
      this._removeTab(id);
    } else if (this._main.delete(id) && !this._tabs.includes(id)) {
      this._leave(id);
    }
  }

  close(id: string): void {
    this._removeTab(id);
    if (!this._main.has(id)) {
      this._leave(id);
    }
  }

  async restore(): Promise<void> {
    const { tabs, current, agent } = await this._tabStore.saved();
    for (const id of tabs) {
      if (!this._tabs.includes(id) && !this._main.has(id)) {
        this._tabs.push(id);
        this._wasOpen.add(id);
      }
    }
    this._tabsChanged.emit();
    if (current && this._tabs.includes(current)) {
      await this.open(current);
    } else if (agent) {
      await this.create(agent);
    }
  }

  resume(): void {
    if (this._wasOpen.size) {
      this._options.connection.connect();
    }
  }

  clear(): void {
    this._show(null);
  }

  private async _begin(
    result: INewSessionResult,
    agent?: string
  ): Promise<SessionModel> {
    const { connection } = this._options;
    const told = ourMeta<{
      agent: string;
      session: ISessionInfo;
      agentCapabilities: { promptCapabilities?: PromptCapabilities };
    }>(result);
    if (told.session) {
      this.list.take(told.session);
    }
    const { SessionModel } = await import('./session');
    const model = this._register(
      new SessionModel({
        connection,
        progress: this.progress,
        settings: this._options.settings,
        contexts: this.contexts,
        info: told.session ?? {
          id: result.sessionId,
          agent: told.agent ?? agent ?? connection.server.defaultAgent ?? ''
        },
        setup: {
          ...result,
          promptCapabilities: told.agentCapabilities?.promptCapabilities
        }
      })
    );
    this._show(model);
    return model;
  }

  private _register(model: SessionModel): SessionModel {
    this._models.set(model.id, model);
    this._drafts.follow(model.id, model.composer);
    const early = this._early.get(model.id) ?? [];
    this._early.delete(model.id);
    this._earlyCount -= early.length;
    for (const deliver of early) {
      deliver(model);
    }
    return model;
  }

  private _show(model: SessionModel | null): void {
    if (model && !this._tabs.includes(model.id)) {
      this._tabs.push(model.id);
      this._wasOpen.add(model.id);
      this._tabsChanged.emit();
    }
    const isOther = model !== this._current;
    this._current = model;
    this._save();
    if (isOther) {
      this._currentChanged.emit(model);
    }
  }

  private _removeTab(id: string): void {
    const index = this._tabs.indexOf(id);
    if (index < 0) {
      return;
    }
    this._tabs.splice(index, 1);
    this._tabsChanged.emit();
    if (this._current?.id !== id) {
      this._save();
      return;
    }
    const next = this._tabs[Math.min(index, this._tabs.length - 1)];
    this._show(this._models.get(next) ?? null);
  }

  /** Take no more part in a session; it goes on without this window. */
  private _leave(id: string): void {
    const model = this._models.get(id);
    if (model) {
      this._models.delete(id);
      this._left.add(id);
      this._options.connection.notify(Method.detach, { sessionId: id });
      model.dispose();
    }
  }

  /** There is no such session any more. */
  private _forget(id: string): void {
    this._drafts.drop(id);
    this._removeTab(id);
    this._leave(id);
    this._wasOpen.delete(id);
  }

  private _save(): void {
    this._tabStore.save(this._tabs, this._current?.id ?? null);
  }

  private _onList(): void {
    if (this.list.isLoaded) {
      for (const id of [...this._tabs, ...this._main]) {
        if (!this.list.get(id)) {
          this._forget(id);
        }
      }
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
    if (method !== Method.sessionsRemoved) {
      this._deliver(params, model => model.receive(method, params));
    }
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
    } else if (!this._left.has(id) && this._earlyCount < MAX_EARLY) {
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
  private readonly _tabs: string[] = [];
  private readonly _tabStore: TabStore;
  private readonly _drafts: Drafts;
  private readonly _main = new Set<string>();
  /** Those that this window has had open, and may want to hear of. */
  private readonly _wasOpen: Set<string>;
  /** Those of which messages may still be on their way. */
  private readonly _left = new Set<string>();
  private readonly _handlers = new DisposableSet();
  private readonly _models = new Map<string, SessionModel>();
  private readonly _early = new Map<string, Early[]>();
  private readonly _tabsChanged = new Signal<this, void>(this);
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
    settings?: IChatSettings;
    /** Remembers what a workspace has open. */
    state?: IStateDB;
    /** Remembers what this window has open and what was typed in it. */
    storage?: Storage;
  }
}
