// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import {
  Changes,
  type Decision,
  type IChange,
  TurnChanges
} from '../changes/changes';
import {
  type ContentBlock,
  type IAvailableCommand,
  type IConfigOption,
  type IMcpServer,
  type IModelState,
  type IModeState,
  type IPlanEntry,
  type IPromptCapabilities,
  type IRemoteResult,
  type ISessionSetup,
  type ISessionUpdate,
  type IStateError,
  type IToolCallUpdate,
  type IUsage,
  Method,
  type PermissionOutcome,
  type SessionState,
  ourMeta
} from '../protocol';
import type { IResultItem } from '../remote/items';
import { mergeToolCall, newToolCall } from '../tools/call';
import type { IToolItem } from '../tools/items';
import { ToolRecords } from '../tools/rows';
import { shownStatus } from '../tools/shown';
import { Terminals } from '../tools/terminals';
import type { IRow } from '../ui/row';
import { Compactions } from './compactions';
import {
  type IMessageItem,
  type IPlanItem,
  type TranscriptItem,
  appendContent,
  messageText,
  separateTold,
  toldText
} from './items';
import { toNotice, toUsage } from './reports';

/** What `receive` made of a message. */
export type Received = 'applied' | 'old' | 'gap';

/**
 * A session as its numbered messages tell it: the same messages always give
 * the same transcript. Items change in place, in constant time per chunk.
 */
export class Transcript {
  get items(): readonly TranscriptItem[] {
    return this._items;
  }

  /** The number of the last message that was applied. */
  get seq(): number {
    return this._seq;
  }

  get state(): SessionState {
    return this._state;
  }

  /** Why the session is disconnected, until it works again. */
  get error(): IStateError | null {
    return this._error;
  }

  get commands(): readonly IAvailableCommand[] {
    return this._commands;
  }

  get title(): string {
    return this._title;
  }

  get modes(): IModeState | null {
    return this._modes;
  }

  /** The old way to offer models, before they became an option. */
  get models(): IModelState | null {
    return this._models;
  }

  get configOptions(): readonly IConfigOption[] {
    return this._configOptions;
  }

  /** What the agent takes besides text and links. */
  get promptCapabilities(): IPromptCapabilities {
    return this._promptCapabilities;
  }

  /** The MCP servers that the agent was given, or could not be. */
  get servers(): readonly IMcpServer[] {
    return this._servers;
  }

  /** What users have said here, without repetitions one right after the other. */
  get prompts(): readonly string[] {
    const texts = this._items.flatMap(item =>
      item.kind === 'user' && !item.isHearsay ? [messageText(item)] : []
    );
    return texts.filter((text, index) => text && text !== texts[index + 1]);
  }

  /** How full the agent's memory is, if it tells. */
  get usage(): IUsage | null {
    return this._usage;
  }

  /** Begin anew behind a message, with all that is no part of the conversation. */
  static after(before: Transcript, seq: number): Transcript {
    const transcript = new Transcript();
    transcript._seq = seq;
    transcript._state = before._state;
    transcript._runningSince = before._runningSince;
    transcript._commands = before._commands;
    transcript._title = before._title;
    transcript._modes = before._modes;
    transcript._models = before._models;
    transcript._usage = before._usage;
    transcript._configOptions = before._configOptions;
    transcript._promptCapabilities = before._promptCapabilities;
    transcript._servers = before._servers;
    return transcript;
  }

  /**
   * Apply a numbered message: doubles are ignored, and one that comes too
   * early is refused, so that what is missing can be asked for again.
   */
  receive(method: string, params: unknown): Received {
    const seq = ourMeta<{ seq: number }>(params).seq;
    if (typeof seq === 'number') {
      if (seq <= this._seq) {
        return 'old';
      }
      if (seq > this._seq + 1) {
        return 'gap';
      }
      this._seq = seq;
    }
    this._apply(method, params as Record<string, unknown>);
    return 'applied';
  }

  /** Take over the state that an attach answered with. */
  /** When the turn began that runs now. */
  get runningSince(): number | null {
    return this._runningSince;
  }

  setState(state: SessionState): void {
    this._state = state;
  }

  /** Take over what the agent offers: its updates only tell the changes. */
  setUp(setup: ISessionSetup): void {
    this._modes = setup.modes ?? this._modes;
    this._models = setup.models ?? this._models;
    this._configOptions = setup.configOptions ?? this._configOptions;
    this._commands = setup.availableCommands ?? this._commands;
    this._promptCapabilities =
      setup.promptCapabilities ?? this._promptCapabilities;
  }

  private _apply(method: string, params: Record<string, unknown>): void {
    switch (method) {
      case Method.sessionUpdate:
        this._update(
          params.update as ISessionUpdate,
          'origin' in ourMeta(params)
        );
        break;
      case Method.promptContext:
        this._promptContext(params);
        break;
      case Method.state:
        this._stateChange(params as unknown as IStateChange);
        break;
      case Method.restored:
        this._terminals.leave();
        this._endMessage();
        this._push({
          kind: 'notice',
          level: params.how === 'new' ? 'warning' : 'info',
          text: (params.message as string | undefined) ?? ''
        });
        break;
      case Method.notice:
        this._endMessage();
        this._push(toNotice(params));
        break;
      case Method.modelChanged:
        if (this._models && typeof params.modelId === 'string') {
          this._models = { ...this._models, currentModelId: params.modelId };
        }
        break;
      case Method.servers:
        this._servers = (params.servers as IMcpServer[] | undefined) ?? [];
        break;
      case Method.terminalCreated:
        this._terminals.created(params);
        break;
      case Method.terminalOutput:
        this._terminals.printed(params);
        break;
      case Method.terminalExit:
        this._terminals.exited(params);
        break;
      case Method.permissionResolved: {
        const request = params.request as
          { method: string; params: unknown } | undefined;
        if (request) {
          this._endMessage();
          this._push({
            kind: 'answer',
            method: request.method,
            params: request.params,
            outcome: params.outcome as PermissionOutcome
          });
        }
        break;
      }
      case Method.remoteResult:
        this._result(params as unknown as IRemoteResult);
        break;
      case Method.fileChanged:
        this._fileChanged(params as unknown as IFileChanged);
        break;
      case Method.changeDecided: {
        const { change, parts, decision } = params as unknown as IDecided;
        this._changes.decided(change, parts, decision);
        for (const item of this._showing.get(change) ?? []) {
          item.revision++;
        }
        break;
      }
      case Method.toolRecord:
        this._toolRecord(params);
        break;
      case Method.permissionDecided:
        if (params.by === 'own tool') {
          this._ruled(String(params.toolCallId), String(params.subject));
        }
        // What a person decided has its own line.
        if (params.decision === 'deny' && params.by !== 'user') {
          this._endMessage();
          this._push({
            kind: 'refusal',
            by: String(params.by),
            subject: String(params.subject)
          });
        }
        break;
    }
  }

  private _update(update: ISessionUpdate | undefined, isPrompt: boolean): void {
    switch (update?.sessionUpdate) {
      case 'user_message_chunk':
        // The server says whose prompt it was; agents repeat what they remember.
        this._chunk('user', update, !isPrompt);
        break;
      case 'agent_message_chunk':
        this._chunk('agent', update);
        break;
      case 'agent_thought_chunk':
        this._chunk('thought', update);
        break;
      case 'tool_call':
      case 'tool_call_update':
        this._toolCall(update as unknown as IToolCallUpdate);
        break;
      case 'plan':
        this._plan((update.entries as IPlanEntry[] | undefined) ?? []);
        break;
      case 'notice':
        this._endMessage();
        this._push(toNotice(update));
        break;
      case 'usage_update': {
        const usage = toUsage(update);
        if (usage) {
          // The costs are not told every time.
          this._usage = { ...this._usage, ...usage };
        }
        break;
      }
      case 'compaction_update':
      case 'compaction_summary_chunk':
        this._compactions.take(update);
        break;
      case 'available_commands_update':
        this._commands =
          (update.availableCommands as IAvailableCommand[] | undefined) ?? [];
        break;
      case 'current_mode_update':
        if (this._modes && typeof update.currentModeId === 'string') {
          this._modes = {
            ...this._modes,
            currentModeId: update.currentModeId
          };
        }
        break;
      case 'config_option_update':
        this._configOptions =
          (update.configOptions as IConfigOption[] | undefined) ??
          this._configOptions;
        break;
      case 'session_info_update':
        if (typeof update.title === 'string') {
          this._title = update.title;
        }
        break;
    }
  }

  private _chunk(
    kind: IMessageItem['kind'],
    update: ISessionUpdate,
    isHearsay = false
  ): void {
    const content = update.content as ContentBlock | undefined;
    if (!content) {
      return;
    }
    const messageId = update.messageId as string | undefined;
    let item = this._message;
    if (
      !item ||
      item.kind !== kind ||
      item.isHearsay !== isHearsay ||
      (messageId !== undefined &&
        item.messageId !== undefined &&
        item.messageId !== messageId)
    ) {
      item = this._push({ kind, messageId, isHearsay, parts: [], told: [] });
      this._message = item;
      if (kind === 'user') {
        this._planItem = null;
      }
    }
    item.messageId ??= messageId;
    appendContent(item.parts, content);
    if (kind === 'user') {
      separateTold(item);
      this._prompt = isHearsay ? this._prompt : item;
    }
    item.revision++;
  }

  /** What the agent was told with what a user has said last. */
  private _promptContext({ text }: Record<string, unknown>): void {
    if (this._prompt && typeof text === 'string') {
      appendContent(this._prompt.told, { type: 'text', text: toldText(text) });
      this._prompt.revision++;
    }
  }

  private _toolCall(update: IToolCallUpdate): void {
    if (!update.toolCallId) {
      return;
    }
    const item =
      this._tools.get(update.toolCallId) ??
      this._addTool({
        kind: 'tool',
        call: newToolCall(update.toolCallId),
        changes: new Map<number, IChange>(),
        made: [],
        isRuled: false
      });
    mergeToolCall(item.call, update);
    item.revision++;
    this._follow(item);
    this._terminals.show(item);
  }

  private _addTool(tool: Omit<IToolItem, 'key' | 'revision'>): IToolItem {
    this._endMessage();
    const item: IToolItem = this._push(tool);
    const { toolCallId } = item.call;
    item.isRuled = this._ruledCalls.has(toolCallId);
    this._tools.set(toolCallId, item);
    return item;
  }

  /** Our server tells of a call of one of its own tools. */
  private _toolRecord(params: unknown): void {
    const item = this._records.take(params);
    if (item) {
      this._follow(item);
    }
  }

  /** Take note of what a call tells of files, and whether it has ended. */
  private _follow(item: IToolItem): void {
    // Of our own tools we know ourselves what they have changed.
    item.changes = item.record ? new Map() : this._changes.ofTool(item.call);
    this._turn.tool(item);
    this._shows(item, [...item.changes.values(), ...item.made]);
    if (isOpen(item)) {
      this._openTools.add(item);
    } else {
      this._openTools.delete(item);
    }
  }

  /** The agent asked for a call that our own rules decide about. */
  private _ruled(toolCallId: string, tool: string): void {
    this._ruledCalls.add(toolCallId);
    this._unseen.set(toolCallId, tool);
    const item = this._tools.get(toolCallId);
    if (item) {
      item.isRuled = true;
      item.revision++;
    }
  }

  private _plan(entries: IPlanEntry[]): void {
    if (this._planItem) {
      this._planItem.entries = entries;
      this._planItem.revision++;
      return;
    }
    this._endMessage();
    this._planItem = this._push({ kind: 'plan', entries });
  }

  private _stateChange(change: IStateChange): void {
    this._endMessage();
    this._state = change.state;
    this._runningSince =
      change.state === 'running' ? Date.parse(change.time ?? '') || null : null;
    if (change.state === 'running') {
      this._error = null;
      this._turn = new TurnChanges();
      return;
    }
    // What was asked for and never called is to be seen all the same.
    for (const [toolCallId, title] of this._unseen) {
      if (!this._tools.has(toolCallId)) {
        this._toolCall({ toolCallId, title });
      }
    }
    this._unseen.clear();
    // Some agents never close a call that was refused or cancelled.
    for (const item of this._openTools) {
      item.call.status = 'ended';
      item.revision++;
    }
    this._openTools.clear();
    this._records.endTurn();
    if (change.state !== 'idle') {
      this._terminals.leave();
      this._compactions.leave();
    }
    const made = this._turn.made();
    if (made.length > 0) {
      this._shows(this._push({ kind: 'summary', changes: made }), made);
    }
    this._turn = new TurnChanges();
    this._error = change.error ?? null;
    if (change.error) {
      this._push({ kind: 'error', error: change.error });
    } else if (change.stopReason && change.stopReason !== 'end_turn') {
      this._push({ kind: 'stop', reason: change.stopReason });
    }
  }

  private _fileChanged({ path, oldText, newText }: IFileChanged): void {
    if (newText === undefined) {
      // Too long to be told.
      return;
    }
    this._endMessage();
    const change = this._changes.note(`file-${this._seq}`, {
      path,
      oldText: oldText ?? null,
      newText
    });
    const item = this._push({
      kind: 'change',
      change,
      isCovered: false,
      isOwned: false
    });
    const maker = this._records.changed(item);
    this._turn.note(item);
    this._shows(maker ?? item, [change]);
  }

  /** The same one comes again whenever something has become of it. */
  private _result({
    number,
    target,
    state,
    message,
    undo
  }: IRemoteResult): void {
    if (typeof number !== 'number' || !target) {
      return;
    }
    const result = { number, target, state, message, undo };
    const item = this._results.get(number);
    if (item) {
      item.result = result;
      item.revision++;
      return;
    }
    this._endMessage();
    this._results.set(number, this._push({ kind: 'result', result }));
  }

  private _shows(item: IRow, changes: readonly IChange[]): void {
    for (const { key } of changes) {
      const items = this._showing.get(key) ?? new Set();
      this._showing.set(key, items.add(item));
    }
  }

  private _endMessage(): void {
    this._message = null;
  }

  private _push<T extends Omit<TranscriptItem, 'key' | 'revision'>>(
    item: T
  ): T & IRow {
    const whole = Object.assign(item, { key: this._pushed++, revision: 0 });
    this._items.push(whole as unknown as TranscriptItem);
    return whole;
  }

  private _seq = 0;
  private _state: SessionState = 'idle';
  private _runningSince: number | null = null;
  private _error: IStateError | null = null;
  private _commands: readonly IAvailableCommand[] = [];
  private _title = '';
  private _modes: IModeState | null = null;
  private _models: IModelState | null = null;
  private _usage: IUsage | null = null;
  private _configOptions: readonly IConfigOption[] = [];
  private _promptCapabilities: IPromptCapabilities = {};
  private _servers: readonly IMcpServer[] = [];
  private _message: IMessageItem | null = null;
  private _prompt: IMessageItem | null = null;
  private _planItem: IPlanItem | null = null;
  private readonly _items: TranscriptItem[] = [];
  /** How many items there ever were. */
  private _pushed = 0;
  private readonly _tools = new Map<string, IToolItem>();
  private readonly _ruledCalls = new Set<string>();
  /** The tools of those that were asked for in this turn, by the calls' ids. */
  private readonly _unseen = new Map<string, string>();
  private readonly _records = new ToolRecords({
    find: id => this._tools.get(id),
    add: item => this._addTool(item),
    name: (item, id) => {
      item.call.toolCallId = id;
      item.isRuled ||= this._ruledCalls.has(id);
      this._tools.set(id, item);
    },
    remove: item => {
      this._items.splice(this._items.indexOf(item), 1);
      this._openTools.delete(item);
    }
  });
  private readonly _openTools = new Set<IToolItem>();
  private readonly _results = new Map<number, IResultItem>();
  private _turn = new TurnChanges();
  private readonly _changes = new Changes();
  /** Which items show a change, by its name. */
  private readonly _showing = new Map<string, Set<IRow>>();
  private readonly _compactions = new Compactions(item => {
    this._endMessage();
    return this._push(item);
  });
  private readonly _terminals = new Terminals();
}

interface IFileChanged {
  path: string;
  oldText?: string | null;
  newText?: string;
}

interface IDecided {
  change: string;
  parts: string[];
  decision: Decision;
}

interface IStateChange {
  state: SessionState;
  time?: string;
  stopReason?: string;
  error?: IStateError;
}

function isOpen({ call, record }: IToolItem): boolean {
  return ['pending', 'in_progress'].includes(shownStatus(call, record));
}
