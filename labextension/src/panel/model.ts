// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import type { IChatPanel } from '../api/chat';
import { RemoteStart } from '../remote/start';
import type { Sessions } from '../sessions/sessions';

/** What could not be done, and how to try once more. */
export interface IFailure {
  readonly error: Error;
  readonly retry?: () => void;
}

/** What the side panel does and shows besides a session: work that takes a while, and failures. */
export class PanelModel implements IDisposable {
  constructor(private readonly _options: PanelModel.IOptions) {
    this.remote = new RemoteStart(_options.sessions);
    this.remote.changed.connect(this._onChanged, this);
  }

  /** The remote session that is about to start. */
  readonly remote: RemoteStart;

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Emitted when something begins that the person is to wait for. */
  get waits(): ISignal<this, void> {
    return this._waits;
  }

  /** Emitted when it has ended, well or not. */
  get waited(): ISignal<this, void> {
    return this._waited;
  }

  /** The latest work, in words; empty if there is none. */
  get label(): string {
    return this._labels.at(-1) ?? '';
  }

  get failure(): IFailure | null {
    return this._failure;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this.remote.dispose();
      Signal.clearData(this);
    }
  }

  /** Connect, and open what was open before; only the first call counts. */
  begin(): void {
    if (this._restored) {
      return;
    }
    const { sessions, trans } = this._options;
    sessions.connection.connect();
    // A session that is gone is no problem: there are others to choose.
    this._restored = sessions.restore().catch(() => sessions.clear());
    this._run(trans.__('Connecting…'), () => sessions.connection.ready).catch(
      error => this._fail({ error: error as Error })
    );
  }

  /** Do something that an agent may refuse for want of a login, and show how it goes. */
  async attempt(
    words: string,
    work: () => Promise<unknown>,
    takesFocus = true
  ): Promise<void> {
    this.begin();
    this._fail(null);
    this.remote.leave();
    if (takesFocus) {
      this._waits.emit();
    }
    try {
      await this._run(words, work);
    } catch (error) {
      const retry = (): void => void this.attempt(words, work, takesFocus);
      this._fail({ error: error as Error, retry });
    }
    if (takesFocus) {
      this._waited.emit();
    }
  }

  /** Start a session and show it. */
  newSession(agent?: string): Promise<void> {
    const { sessions, trans } = this._options;
    return this.attempt(trans.__('Starting the agent…'), () =>
      sessions.create(agent)
    );
  }

  /** Show a session that exists. */
  openSession(id: string): Promise<void> {
    const { sessions, trans } = this._options;
    return this.attempt(trans.__('Opening the session…'), () =>
      sessions.open(id)
    );
  }

  /** Start a session that has the past of another, and show it. */
  fork(id: string): Promise<void> {
    const { sessions, trans } = this._options;
    return this.attempt(trans.__('Forking the session…'), () =>
      sessions.fork(id)
    );
  }

  /** Put something into the prompt, of a new session if none is open. */
  ask({ text = '', attachments, isSent }: IChatPanel.IQuestion): Promise<void> {
    const { sessions, trans } = this._options;
    return this.attempt(
      trans.__('Starting the agent…'),
      async () => {
        const asked = sessions.current ?? (await sessions.create());
        if (isSent) {
          void asked.prompt({ text, attachments });
        } else {
          asked.composer.attach(...attachments);
          asked.composer.text ||= text;
        }
      },
      !isSent
    );
  }

  /** Start the remote session that is set up. */
  async startRemote(): Promise<void> {
    this._fail(null);
    try {
      if (await this.remote.setup?.start()) {
        this.remote.close();
        this._waited.emit();
      }
    } catch (error) {
      const retry = (): void => void this.startRemote();
      this._fail({ error: error as Error, retry });
    }
  }

  /** Show the list of sessions. */
  showList(): void {
    this.remote.leave();
    this._options.sessions.clear();
  }

  dismissFailure(): void {
    this._fail(null);
  }

  /** Several at once if need be; the latest is the one that is told. */
  private async _run(
    words: string,
    work: () => Promise<unknown>
  ): Promise<void> {
    this._labels = [...this._labels, words];
    this._changed.emit();
    try {
      // What is asked for now comes in front of what was open before.
      await this._restored;
      await work();
    } finally {
      const index = this._labels.indexOf(words);
      this._labels = this._labels.filter((_, at) => at !== index);
      this._changed.emit();
    }
  }

  private _fail(failure: IFailure | null): void {
    this._failure = failure;
    this._changed.emit();
  }

  private _onChanged(): void {
    this._changed.emit();
  }

  private _labels: readonly string[] = [];
  private _failure: IFailure | null = null;
  private _restored: Promise<void> | undefined;
  private _isDisposed = false;
  private readonly _changed = new Signal<this, void>(this);
  private readonly _waits = new Signal<this, void>(this);
  private readonly _waited = new Signal<this, void>(this);
}

export namespace PanelModel {
  export interface IOptions {
    sessions: Sessions;
    trans: TranslationBundle;
  }
}
