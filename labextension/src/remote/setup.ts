// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { UUID } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import { loginNeeded } from '../agents/login';
import type { IAcpConnection } from '../api/connection';
import {
  type IGitRemoteRef,
  type IRemoteInspection,
  type IRemoteProgress,
  Method
} from '../protocol';
import { type IChoice, type Way, bestChoice, choicesFor } from './choices';
import type { GitProgress } from './progress';

/** What is being done to begin. */
export type Step = 'push' | 'start';

/**
 * A remote session before there is one: which repository it is about, what it
 * begins with, and how far the beginning is.
 */
export class RemoteSetup implements IDisposable {
  constructor(private readonly _options: RemoteSetup.IOptions) {
    this._folder = trimmed(_options.folder);
    this._agent = _options.agent;
    _options.sessions.progress.changed.connect(this._onProgress, this);
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** As the contents API spells it. */
  get folder(): string {
    return this._folder;
  }

  get agent(): string | undefined {
    return this._agent;
  }

  set agent(agent: string | undefined) {
    this._agent = agent;
    this._changed.emit();
  }

  /** What was found there; null as long as that is not known. */
  get found(): IRemoteInspection | null {
    return this._found;
  }

  get isLooking(): boolean {
    return this._isLooking;
  }

  get choices(): readonly IChoice[] {
    return this._choices;
  }

  /** What it is to begin with; null if there is no way, or nothing is chosen yet. */
  get choice(): IChoice | null {
    return this._choice;
  }

  /** What the agent will find; null if that is not known before it is pushed. */
  get revision(): string | null {
    const { _found: found, _choice: choice } = this;
    if (!found || !choice) {
      return found?.revision ?? null;
    }
    if (choice.way === 'there') {
      return found.ref?.revision ?? null;
    }
    return choice.way === 'commits' ? found.revision : null;
  }

  /** What is being done, once it begins. */
  get step(): Step | null {
    return this._step;
  }

  get progress(): IRemoteProgress | undefined {
    return this._options.sessions.progress.get(this._token);
  }

  /** What went wrong, in words for the person. */
  get problem(): string {
    return this._problem;
  }

  get canStart(): boolean {
    return (
      this._choice !== null &&
      !this._isLooking &&
      this._step === null &&
      !this._found?.problems.some(({ blocking }) => blocking)
    );
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this.cancel();
      Signal.clearData(this);
    }
  }

  choose(way: Way): void {
    this._choice =
      this._choices.find(each => each.way === way && !each.obstacle) ??
      this._choice;
    this._changed.emit();
  }

  /** See how the repository of a folder stands; of the same one, how it stands now. */
  async look(folder = this._folder): Promise<void> {
    const attempt = ++this._attempt;
    const wanted = this._choice?.way;
    const isSame = trimmed(folder) === this._folder;
    this._folder = trimmed(folder);
    this._found = isSame ? this._found : null;
    this._problem = '';
    this._isLooking = true;
    this._changed.emit();
    let found: IRemoteInspection | null = null;
    let problem = '';
    try {
      found = await this._inspect();
    } catch (error) {
      problem = (error as Error).message;
    }
    if (attempt !== this._attempt || this._isDisposed) {
      return;
    }
    this._found = found;
    this._problem = problem;
    this._isLooking = false;
    this._choices = found ? choicesFor(found) : [];
    this._choice = bestChoice(this._choices);
    if (isSame && wanted) {
      this.choose(wanted);
    }
    this._changed.emit();
  }

  /**
   * Begin; returns whether there is a session now. What goes wrong is told by
   * `problem`, but for an agent that wants a login: who asked for it knows where
   * that is done.
   */
  async start(): Promise<boolean> {
    const { _found: found, _choice: choice } = this;
    if (!found || !choice || !this.canStart) {
      return false;
    }
    const controller = new AbortController();
    const { signal } = controller;
    this._working = controller;
    this._problem = '';
    this._token = UUID.uuid4();
    try {
      const ref =
        choice.way === 'there' ? found.ref : await this._push(choice, signal);
      if (ref && !signal.aborted) {
        await this._create(found, ref, signal);
        return true;
      }
    } catch (error) {
      if (loginNeeded(error)) {
        throw error;
      }
      // Who has stopped it knows why it did not come about.
      this._problem = signal.aborted ? '' : (error as Error).message;
    } finally {
      this._options.sessions.progress.forget(this._token);
      this._working = null;
      this._setStep(null);
    }
    return false;
  }

  /** Stop what was begun; what was pushed already is deleted by the server. */
  cancel(): void {
    this._working?.abort();
  }

  private async _inspect(): Promise<IRemoteInspection> {
    this._connection.connect();
    await this._connection.ready;
    return this._connection.request(Method.remoteInspect, { cwd: this._cwd });
  }

  /** Each time anew: what was pushed for an earlier try may not be what is here now. */
  private async _push(
    { way }: IChoice,
    signal: AbortSignal
  ): Promise<IGitRemoteRef> {
    this._setStep('push');
    const { ref } = await this._connection.request<{ ref: IGitRemoteRef }>(
      Method.remotePush,
      {
        cwd: this._cwd,
        uncommitted: way === 'everything',
        progressToken: this._token
      },
      { signal }
    );
    return ref;
  }

  private async _create(
    { folder }: IRemoteInspection,
    ref: IGitRemoteRef,
    signal: AbortSignal
  ): Promise<void> {
    const { sessions } = this._options;
    // What was pushed is not how far the next step is.
    sessions.progress.forget(this._token);
    this._setStep('start');
    await sessions.createRemote(
      {
        agent: this._agent,
        cwd: this._cwd,
        ref,
        folder,
        progressToken: this._token
      },
      { signal }
    );
  }

  private get _connection(): IAcpConnection {
    return this._options.sessions.connection;
  }

  private get _cwd(): string {
    const root = (this._connection.server.rootDir ?? '').replace(/\/+$/, '');
    return `${root}/${this._folder}`.replace(/(.)\/$/, '$1');
  }

  private _setStep(step: Step | null): void {
    this._step = step;
    this._changed.emit();
  }

  private _onProgress(): void {
    if (this._step) {
      this._changed.emit();
    }
  }

  private _folder: string;
  private _agent: string | undefined;
  private _found: IRemoteInspection | null = null;
  private _choices: IChoice[] = [];
  private _choice: IChoice | null = null;
  private _problem = '';
  private _isLooking = false;
  private _attempt = 0;
  private _step: Step | null = null;
  private _working: AbortController | null = null;
  private _token = '';
  private _isDisposed = false;
  private readonly _changed = new Signal<this, void>(this);
}

/** The remote session to start. */
export interface IRemoteSession {
  agent?: string;
  /** The folder here, to which the result belongs. */
  cwd: string;
  ref: IGitRemoteRef;
  /** The same folder in the repository. */
  folder: string;
  /** Names the progress that git reports. */
  progressToken: string;
}

export namespace RemoteSetup {
  export interface ISessions {
    readonly connection: IAcpConnection;
    readonly progress: GitProgress;
    createRemote(
      wanted: IRemoteSession,
      options?: IAcpConnection.IRequestOptions
    ): Promise<unknown>;
  }

  export interface IOptions {
    sessions: RemoteSetup.ISessions;
    folder: string;
    agent?: string;
  }
}

function trimmed(folder: string): string {
  return folder.trim().replace(/^\/+|\/+$/g, '');
}
