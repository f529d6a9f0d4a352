// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { PlanEntry } from '@agentclientprotocol/sdk';

import { Changes, type IChange, TurnChanges } from '../changes/changes';
import {
  type IChunk,
  type IDecided,
  type IFileChanged,
  type IRuled,
  type IStateChange,
  type SessionEvent,
  decodeMessage
} from '../decode/messages';
import type { IToolUpdate } from '../decode/toolcall';
import {
  type IRemoteResult,
  type IStateError,
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
import { SessionFacts } from './facts';
import {
  type IMessageItem,
  type IPlanItem,
  type TranscriptItem,
  appendContent,
  messageText,
  separateTold,
  toldText
} from './items';

/** What `receive` made of a message. */
export type Received = 'applied' | 'old' | 'gap';

/**
 * A session as its numbered messages tell it: the same messages always give
 * the same transcript. Items change in place, in constant time per chunk.
 */
export class Transcript {
  constructor(readonly facts = new SessionFacts()) {}

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

  /** What users have said here, without repetitions one right after the other. */
  get prompts(): readonly string[] {
    const texts = this._items.flatMap(item =>
      item.kind === 'user' && !item.isHearsay ? [messageText(item)] : []
    );
    return texts.filter((text, index) => text && text !== texts[index + 1]);
  }

  /** Begin anew behind a message, with all that is no part of the conversation. */
  static after(before: Transcript, seq: number): Transcript {
    const transcript = new Transcript(before.facts);
    transcript._seq = seq;
    transcript._state = before._state;
    transcript._runningSince = before._runningSince;
    return transcript;
  }

  /**
   * Apply a numbered message: doubles are ignored, and one that comes too
   * early is refused, so that what is missing can be asked for again.
   */
  receive(method: string, params: unknown): Received {
    const { seq } = ourMeta<{ seq: unknown }>(params);
    const isNumbered = typeof seq === 'number';
    if (isNumbered && seq <= this._seq) {
      return 'old';
    }
    if (isNumbered && seq > this._seq + 1) {
      return 'gap';
    }
    const { event, dropped } = decodeMessage(method, params);
    if (isNumbered) {
      this._seq = seq;
    }
    if (event) {
      this.facts.apply(event);
      this._apply(event);
    }
    this._drop(dropped);
    return 'applied';
  }

  /** When the turn began that runs now. */
  get runningSince(): number | null {
    return this._runningSince;
  }

  /** A change that was told of here, by its key. */
  change(key: string): IChange | undefined {
    return this._changes.get(key);
  }

  /** Take over the state that an attach answered with. */
  setState(state: SessionState): void {
    this._state = state;
  }

  private _apply(event: SessionEvent): void {
    switch (event.type) {
      case 'chunk':
        this._chunk(event.chunk);
        break;
      case 'tool':
        this._toolCall(event.update);
        break;
      case 'record':
        this._follow(this._records.take(event.record));
        break;
      case 'plan':
        this._plan(event.entries);
        break;
      case 'notice':
        this._endMessage();
        this._push({ kind: 'notice', ...event.notice });
        break;
      case 'compaction':
        this._compactions.take(event.compaction);
        break;
      case 'context':
        this._promptContext(event.text);
        break;
      case 'state':
        this._stateChange(event.change);
        break;
      case 'restored':
        this._terminals.leave();
        this._endMessage();
        this._push({
          kind: 'notice',
          level: event.isNew ? 'warning' : 'info',
          text: event.message
        });
        break;
      case 'terminal':
        this._terminals.created(event.id, event.name);
        break;
      case 'printed':
        this._terminals.printed(event.id, event.data);
        break;
      case 'exited':
        this._terminals.exited(event.id, event.exit);
        break;
      case 'answer':
        this._endMessage();
        this._push({
          kind: 'answer',
          question: event.question,
          answer: event.answer
        });
        break;
      case 'ruled':
        this._ruled(event.ruled);
        break;
      case 'result':
        this._result(event.result);
        break;
      case 'file':
        this._fileChanged(event.changed);
        break;
      case 'decided':
        this._decided(event.decided);
        break;
    }
  }

  /** Show what could not be read; what comes together is one row. */
  private _drop(parts: readonly unknown[]): void {
    if (parts.length === 0) {
      return;
    }
    const last = this._items.at(-1);
    if (last?.kind === 'dropped') {
      last.parts.push(...parts);
      last.revision++;
      return;
    }
    // The message before it goes on where it was.
    this._push({ kind: 'dropped', parts: [...parts] });
  }

  private _chunk({ kind, content, messageId, isHearsay }: IChunk): void {
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
  private _promptContext(text: string): void {
    if (this._prompt) {
      appendContent(this._prompt.told, { type: 'text', text: toldText(text) });
      this._prompt.revision++;
    }
  }

  private _toolCall(update: IToolUpdate): void {
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

  /** A rule has decided about something that the agent wanted to do. */
  private _ruled({ by, decision, subject, toolCallId }: IRuled): void {
    if (by === 'own tool' && toolCallId !== undefined) {
      this._ruledCalls.add(toolCallId);
      this._unseen.set(toolCallId, subject);
      const item = this._tools.get(toolCallId);
      if (item) {
        item.isRuled = true;
        item.revision++;
      }
    }
    // What a person decided has its own line.
    if (decision === 'deny' && by !== 'user') {
      this._endMessage();
      this._push({ kind: 'refusal', by, subject });
    }
  }

  private _plan(entries: PlanEntry[]): void {
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

  private _decided({ change, parts, decision }: IDecided): void {
    this._changes.decided(change, parts, decision);
    for (const item of this._showing.get(change) ?? []) {
      item.revision++;
    }
  }

  /** The same one comes again whenever something has become of it. */
  private _result(result: IRemoteResult): void {
    const item = this._results.get(result.number);
    if (item) {
      item.result = result;
      item.revision++;
      return;
    }
    this._endMessage();
    this._results.set(result.number, this._push({ kind: 'result', result }));
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

function isOpen({ call, record }: IToolItem): boolean {
  return ['pending', 'in_progress'].includes(shownStatus(call, record));
}
