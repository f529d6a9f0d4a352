// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IChangeItem } from '../changes/items';
import { reviewOf } from '../changes/review';
import type { IToolRecord } from '../decode/record';
import { newToolCall } from './call';
import type { IToolItem } from './items';

/** The tools after which a notebook is another. */
const CHANGING = [
  'create_notebook',
  'edit_cell',
  'insert_cell',
  'delete_cell',
  'move_cell'
];

/** The rows of a transcript, as far as records have to do with them. */
export interface IToolRows {
  /** The row of a tool call of the agent, if it has one. */
  find(toolCallId: string): IToolItem | undefined;
  add(item: Omit<IToolItem, 'key' | 'revision'>): IToolItem;
  /** Let a row be that of a tool call which has none yet. */
  name(item: IToolItem, toolCallId: string): void;
  remove(item: IToolItem): void;
}

/**
 * Which row shows what our server tells of a call of its own tools: the row of
 * the agent's call, if that is known, or one of its own. What the call has
 * changed is shown there, too.
 */
export class ToolRecords {
  constructor(private readonly _rows: IToolRows) {}

  /** Take a record; returns the row that shows it now. */
  take(record: IToolRecord): IToolItem {
    const item = this._rowOf(record);
    item.record = record;
    item.revision++;
    this._items.set(record.id, item);
    if (record.status === 'in_progress') {
      this._running.add(item);
    } else {
      this._running.delete(item);
      this._adopt(item, record);
    }
    return item;
  }

  /** Let the call that makes a change show it; returns its row. */
  changed(change: IChangeItem): IToolItem | null {
    this._changes.push(change);
    const makers = [...this._running].filter(
      ({ record, made }) =>
        made.length === 0 &&
        CHANGING.includes(record!.name) &&
        record!.path === change.change.path
    );
    const maker =
      makers.length > 1
        ? (makers.find(item => isSourceOf(item.record!, change)) ?? makers[0])
        : makers.at(0);
    return maker ? this._own(maker, change) : null;
  }

  /** A turn is over: what is still open is left alone. */
  endTurn(): void {
    this._changes = [];
    this._running.clear();
  }

  /** A call that did not say at its start which file it is about. */
  private _adopt(item: IToolItem, record: IToolRecord): void {
    if (item.made.length > 0 || !CHANGING.includes(record.name)) {
      return;
    }
    const change = this._changes
      .filter(
        ({ key, isOwned, change }) =>
          !isOwned && key > item.key && change.path === record.path
      )
      .at(-1);
    if (change) {
      this._own(item, change);
    }
  }

  private _own(item: IToolItem, change: IChangeItem): IToolItem {
    item.made = [...item.made, change.change];
    item.revision++;
    change.isOwned = true;
    change.revision++;
    return item;
  }

  private _rowOf({ id, toolCallId }: IToolRecord): IToolItem {
    const known = this._items.get(id);
    const called = toolCallId ? this._rows.find(toolCallId) : undefined;
    if (known && toolCallId && !called) {
      this._rows.name(known, toolCallId);
    }
    // One call of the agent may be several of our tools: each has a row.
    if (!called || called === known || called.record) {
      return known ?? this._newRow(called ? id : (toolCallId ?? id));
    }
    if (known) {
      called.made = known.made;
      this._running.delete(known);
      this._rows.remove(known);
    }
    return called;
  }

  private _newRow(id: string): IToolItem {
    return this._rows.add({
      kind: 'tool',
      call: newToolCall(id),
      changes: new Map(),
      made: [],
      isRuled: false
    });
  }

  private readonly _items = new Map<string, IToolItem>();
  private readonly _running = new Set<IToolItem>();
  /** Those of the turn. */
  private _changes: IChangeItem[] = [];
}

/** Whether a change puts in what a call was told to put in. */
function isSourceOf(record: IToolRecord, { change }: IChangeItem): boolean {
  const { source } = record.arguments;
  return reviewOf(change).parts.some(part => part.newText.trimEnd() === source);
}
