// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { AvailableCommand, ContentBlock } from '@agentclientprotocol/sdk';
import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import { type ILoginNeeded, loginNeeded } from '../agents/login';
import type { IChatSettings } from '../api/chat';
import type { IIncomingRequest } from '../api/connection';
import type { IAcpConnection } from '../api/connection';
import {
  type Decision,
  type IChange,
  partsFor,
  revisionFor
} from '../changes/changes';
import type { IReviewed } from '../changes/context';
import { ConnectionLostError, RpcError } from '../connection/rpc';
import { decodeQuestion } from '../decode/questions';
import { decodeSetup } from '../decode/setup';
import { promptBlocks } from '../prompt/attachment';
import { type ContextProviders, EDITOR_CONTEXT } from '../prompt/carrying';
import {
  Composer,
  PromptHistory,
  type IComposed,
  type ISent
} from '../prompt/composer';
import { type IWaitingPrompt, SentPrompts } from '../prompt/sent';
import type { IPromptSession } from '../prompt/session';
import {
  type IAttachResult,
  type ISessionInfo,
  type IPromptResult,
  type IQueuedPrompt,
  ErrorCode,
  META_KEY,
  Method,
  ourMeta
} from '../protocol';
import type { GitProgress } from '../remote/progress';
import { Results } from '../remote/results';
import type { IAsking, IPendingRequest } from '../requests/request';
import { Transcript } from '../transcript/transcript';

/**
 * One session as this window follows it: its transcript, what the agent asks,
 * and what the person is writing.
 */
export class SessionModel
  implements IReviewed, IAsking, IPromptSession, IDisposable
{
  constructor(private readonly _options: SessionModel.IOptions) {
    this._info = _options.info;
    this._composer = new Composer(_options.draft);
    this._prompts = new SentPrompts(this._composer, () => this._changed.emit());
    this.results = new Results(
      _options.connection,
      _options.progress,
      _options.info.id
    );
    this._run = _options.connection.server.run;
    this._transcript.facts.setUp(decodeSetup(_options.setup, warn));
  }

  /** The user's earlier messages, to be sent once more. */
  readonly history = new PromptHistory(() => this._transcript.prompts);

  /** What can be done with what a remote session brings back. */
  readonly results: Results;

  get transcript(): Transcript {
    return this._transcript;
  }

  /**
   * Whether changes can be kept or undone one by one: not those of files that are
   * elsewhere, which come back as a whole, and not by who may only watch.
   */
  get mayDecide(): boolean {
    const { connection } = this._options;
    return !this.isRemote && connection.server.mayAct !== false;
  }

  get id(): string {
    return this._info.id;
  }

  get info(): ISessionInfo {
    return this._info;
  }

  /** Whether the agent works on files that are elsewhere. */
  get isRemote(): boolean {
    return Boolean(this._info.remote);
  }

  /** Something that is shown may have changed; views wait for a frame. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** What the person is about to say. */
  get composer(): Composer {
    return this._composer;
  }

  /** Whether messages carry what a provider offers: by a click here, or as set. */
  carries(id: string): boolean {
    const { settings } = this._options;
    return this._composer.carries(id) ?? settings?.sharesContext ?? true;
  }

  get commands(): readonly AvailableCommand[] {
    return this._transcript.facts.commands;
  }

  /** What was sent and the agent has not been told yet. */
  get waiting(): readonly IWaitingPrompt[] {
    return this._prompts.waiting;
  }

  get requests(): readonly IPendingRequest[] {
    return [...this._requests.values()];
  }

  /** What went wrong last, in words for the person. */
  get problem(): string {
    return this._problem;
  }

  /** How to log in, if the agent refused the last prompt for want of it. */
  get login(): ILoginNeeded | null {
    return this._login;
  }

  /** A turn runs, or a prompt is on its way. */
  get isBusy(): boolean {
    return this._transcript.state === 'running' || this._prompting > 0;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this._prompts.dispose();
      Signal.clearData(this);
    }
  }

  /**
   * Send what was composed; it comes back to where it was written if it was not
   * taken. The server adds where the user is, unless that is not to be shared.
   */
  async prompt(composed: IComposed): Promise<void> {
    await this._send(composed);
  }

  async send(text: string): Promise<void> {
    const error = await this._send({ text, attachments: [] });
    if (error) {
      throw error;
    }
  }

  /** Returns why it was not taken, if it was not. */
  private async _send(composed: IComposed): Promise<Error | null> {
    const { connection } = this._options;
    const context = this.carries(EDITOR_CONTEXT) ? {} : { context: false };
    const wasSent = connection.status === 'connected';
    const sent = this._prompts.begin(composed);
    this._problem = '';
    this._login = null;
    this._prompting++;
    this._changed.emit();
    try {
      const prompt = await this._prepared(composed);
      if (!prompt) {
        this._prompts.ended(sent.id);
        this._prompts.giveBack(sent.id);
        return null;
      }
      const { stopReason } = await connection.request<IPromptResult>(
        Method.sessionPrompt,
        {
          sessionId: this.id,
          prompt,
          _meta: { [META_KEY]: { promptId: sent.id, ...context } }
        }
      );
      this._prompts.ended(sent.id);
      if (stopReason === 'cancelled' && this._closingGap === null) {
        // Stopped before its turn had come: the transcript will never have it.
        this._prompts.giveBack(sent.id);
      }
    } catch (error) {
      this._prompts.ended(sent.id);
      this._login = loginNeeded(error);
      this._promptFailed(sent, error as Error, wasSent);
      return error as Error;
    } finally {
      this._prompting--;
      this._changed.emit();
    }
    return null;
  }

  /** Send what is written, if there is something and it can be sent. */
  sendComposed(): void {
    const { text, attachments } = this._composer;
    const isEmpty = text.trim() === '' && attachments.length === 0;
    if (!isEmpty && this._options.connection.status === 'connected') {
      this.history.leave();
      this._composer.take();
      void this.prompt({ text: text.trim(), attachments });
    }
  }

  /** Send the message that failed again, once its cause is removed. */
  retry(): void {
    this.dismissProblem();
    const composed = this._composer.take();
    if (composed.text || composed.attachments.length > 0) {
      void this.prompt(composed);
    }
  }

  /**
   * Let the view of this session put the focus on what waits for the person: what
   * does so now, and not what is asked later.
   */
  get isCardWanted(): boolean {
    return this._isCardWanted;
  }

  set isCardWanted(isWanted: boolean) {
    this._isCardWanted =
      isWanted && this._requests.size + this._expected.size > 0;
    if (this._isCardWanted) {
      this._changed.emit();
    }
  }

  /** Stop the turn; its open questions are thereby answered. */
  cancel(): void {
    // These are not on their way yet, so that nobody could stop them there.
    this._preparing.forEach(controller => controller.abort());
    this._options.connection.notify(Method.sessionCancel, {
      sessionId: this.id
    });
  }

  async setMode(modeId: string): Promise<void> {
    await this._try(Method.sessionSetMode, { modeId });
  }

  async setModel(modelId: string): Promise<void> {
    await this._try(Method.sessionSetModel, { modelId });
  }

  async setConfigOption(
    configId: string,
    value: string | boolean
  ): Promise<void> {
    const type = typeof value === 'boolean' ? { type: 'boolean' } : {};
    await this._try(Method.sessionSetConfigOption, {
      configId,
      ...type,
      value
    });
  }

  /** Keep, undo or redo parts of what an agent has changed. */
  async decide(
    change: IChange,
    parts: readonly string[],
    decision: Decision
  ): Promise<boolean> {
    return this._try(Method.changeDecide, {
      change: change.key,
      parts,
      decision,
      path: change.path,
      ...revisionFor(change, parts, decision)
    });
  }

  /** Decide the same about several changes, the latest first when undoing. */
  async decideAll(
    changes: readonly IChange[],
    decision: Decision
  ): Promise<void> {
    const ordered = decision === 'undo' ? [...changes].reverse() : changes;
    for (const change of ordered) {
      const parts = partsFor(change, decision);
      if (parts.length > 0 && !(await this.decide(change, parts, decision))) {
        // What comes before it in the same file would not fit, either.
        return;
      }
    }
  }

  /** Tell the person what went wrong. */
  report(problem: string): void {
    this._problem = problem;
    this._changed.emit();
  }

  dismissProblem(): void {
    this._login = null;
    this.report('');
  }

  /** Ask for everything after what is known, then follow. */
  async attach(): Promise<void> {
    const result = await this._requestAttach();
    this._transcript.facts.setUp(decodeSetup(result, warn));
    if (result.session) {
      this._info = { ...this._info, ...result.session };
    }
    const open = new Set(result.pending);
    for (const id of [...this._requests.keys()]) {
      if (!open.has(id)) {
        this._requests.delete(id);
      }
    }
    this._expected = new Set([...open].filter(id => !this._requests.has(id)));
    this.isCardWanted = this._isCardWanted;
    // What was replayed in the same frame is newer than the answer.
    if (this._transcript.seq <= result.seq) {
      this._transcript.setState(result.state);
    }
    this._attachedSeq = result.seq;
    this._prompts.setQueue(result.queued ?? []);
    this._settle();
    this._changed.emit();
  }

  /** Take a notification that names this session. */
  receive(method: string, params: unknown): void {
    if (method === Method.permissionResolved) {
      this._isCardWanted = false;
      const id = String((params as { requestId?: string }).requestId);
      this._requests.delete(id);
      this._expected.delete(id);
    }
    if (method === Method.queue) {
      this._prompts.setQueue((params as { queued: IQueuedPrompt[] }).queued);
      this._settle();
      this._changed.emit();
      return;
    }
    const { seq = 0 } = ourMeta<{ seq: number }>(params);
    if (method === Method.reloaded && seq > this._transcript.seq) {
      // What came before is not in the journal any more.
      this._transcript = Transcript.after(this._transcript, seq);
      this._changed.emit();
      return;
    }
    const received = this._transcript.receive(method, params);
    if (received === 'gap') {
      this._closeGap();
      return;
    }
    if (received === 'applied') {
      // Nearly never, and this is called for each of many chunks.
      if (this._composer.sent.length > 0) {
        const { promptId } = ourMeta<{ promptId: string }>(params);
        if (promptId !== undefined) {
          this._prompts.arrived(promptId);
        }
        this._settle();
      }
      this._changed.emit();
    }
  }

  /** Take a question of the agent; one that came before is replaced. */
  receiveRequest(request: IIncomingRequest): boolean {
    if (
      request.method !== Method.requestPermission &&
      request.method !== Method.elicit
    ) {
      return false;
    }
    this._expected.delete(request.id);
    const dropped: unknown[] = [];
    const question = decodeQuestion(request.method, request.params, part =>
      dropped.push(part)
    );
    this._requests.set(request.id, {
      id: request.id,
      question,
      dropped,
      answer: result => {
        request.respond(result);
        this._requests.delete(request.id);
        this._changed.emit();
      }
    });
    this._changed.emit();
    return true;
  }

  /** A message in the words of the protocol; null if it was stopped meanwhile. */
  private async _prepared(composed: IComposed): Promise<ContentBlock[] | null> {
    const controller = new AbortController();
    this._preparing.add(controller);
    // No message overtakes another one.
    const turn = this._prepare.then(() => this._blocks(composed));
    this._prepare = turn.catch(() => undefined);
    const blocks = await turn;
    this._preparing.delete(controller);
    return controller.signal.aborted ? null : blocks;
  }

  /** A message in the words of the protocol, with what it carries along. */
  private async _blocks({
    text,
    attachments
  }: IComposed): Promise<ContentBlock[]> {
    const { contexts } = this._options;
    const carried = contexts?.all.length
      ? await contexts.attachments(this, id => this.carries(id))
      : [];
    return promptBlocks(text, [...attachments, ...carried], {
      ...this._transcript.facts.promptCapabilities,
      isRemote: this.isRemote
    });
  }

  private _promptFailed(sent: ISent, error: Error, wasSent: boolean): void {
    if (!this._prompts.isSent(sent.id)) {
      if (this._login) {
        // Written down, but never looked at: it will have to be sent again.
        this._composer.putBack(sent);
      }
      // The transcript tells of a crash itself, with what the agent printed.
      if (!(error instanceof ConnectionLostError) && !this._transcript.error) {
        this._problem = error.message;
      }
      return;
    }
    if (wasSent && error instanceof ConnectionLostError) {
      // Known when the next attach has been answered.
      this._attachedSeq = Infinity;
      return;
    }
    this._problem = error.message;
    this._prompts.giveBack(sent.id);
  }

  private async _requestAttach(): Promise<IAttachResult> {
    const { connection } = this._options;
    const sessionId = this.id;
    const { run } = connection.server;
    if (this._run !== undefined && run !== this._run) {
      // Another run of the server may have given our last numbers away again.
      this._transcript = new Transcript();
    }
    this._run = run;
    const after = this._transcript.seq;
    try {
      return await connection.request(Method.attach, { sessionId, after, run });
    } catch (error) {
      const code = error instanceof RpcError ? error.code : 0;
      if (after === 0 || code !== ErrorCode.invalidParams) {
        throw error;
      }
      // A server that was killed may have lost its last moments: begin anew.
      this._transcript = new Transcript();
      return connection.request(Method.attach, { sessionId, after: 0, run });
    }
  }

  private _settle(): void {
    this._prompts.settle(this._transcript.seq >= this._attachedSeq);
  }

  private _closeGap(): void {
    if (!this._closingGap) {
      this._closingGap = this.attach()
        .catch(error => console.warn('jupyter-acp: attach failed', error))
        .finally(() => (this._closingGap = null));
    }
  }

  /** Returns whether it was done; what went wrong is shown. */
  private async _try(method: string, params: object): Promise<boolean> {
    try {
      await this._options.connection.request(method, {
        sessionId: this.id,
        ...params
      });
      return true;
    } catch (error) {
      this.report((error as Error).message);
      return false;
    }
  }

  private _transcript = new Transcript();
  private _run: string | undefined;
  private _info: ISessionInfo;
  private _problem = '';
  private _login: ILoginNeeded | null = null;
  private _prompting = 0;
  private _attachedSeq = 0;
  private _closingGap: Promise<void> | null = null;
  /** Messages that wait for what they carry along. */
  private readonly _preparing = new Set<AbortController>();
  private _prepare: Promise<unknown> = Promise.resolve();
  private _isDisposed = false;
  private _isCardWanted = false;
  /** The questions that are open and about to come. */
  private _expected = new Set<string>();
  private readonly _composer: Composer;
  private readonly _prompts: SentPrompts;
  private readonly _requests = new Map<string, IPendingRequest>();
  private readonly _changed = new Signal<this, void>(this);
}

/** What an agent offers has no row in the transcript. */
function warn(part: unknown): void {
  console.warn('jupyter-acp: an offer of the agent could not be read', part);
}

export namespace SessionModel {
  export interface IOptions {
    connection: IAcpConnection;
    progress: GitProgress;
    settings?: IChatSettings;
    contexts?: ContextProviders;
    info: ISessionInfo;
    /** The answer to the request that began it. */
    setup?: unknown;
    draft?: string;
  }
}
