// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { ContentBlock, ISessionUpdate } from '../protocol';
import { type ICompactionItem, appendContent } from './items';

type NewItem = Omit<ICompactionItem, 'key' | 'revision'>;

/** The times at which an agent summed up what was said, each of them one item. */
export class Compactions {
  constructor(private readonly _push: (item: NewItem) => ICompactionItem) {}

  /** Take what is told of one: all of it, or the next part of its summary. */
  take(update: ISessionUpdate): void {
    const { compactionId, status, summary, error, content } = update;
    if (typeof compactionId !== 'string') {
      return;
    }
    const item = this._get(compactionId);
    item.status = typeof status === 'string' ? status : item.status;
    if (summary !== undefined) {
      item.summary = [];
    }
    const added = (summary ?? content ?? []) as ContentBlock | ContentBlock[];
    for (const block of [added].flat()) {
      appendContent(item.summary, block);
    }
    if (error !== undefined) {
      item.error = typeof error === 'string' ? error : '';
    }
    item.revision++;
  }

  /** What an agent was doing when it ended will not be done. */
  leave(): void {
    for (const item of this._items.values()) {
      if (item.status === 'in_progress') {
        item.status = 'cancelled';
        item.revision++;
      }
    }
  }

  private _get(id: string): ICompactionItem {
    let item = this._items.get(id);
    if (!item) {
      item = this._push({
        kind: 'compaction',
        status: 'in_progress',
        summary: [],
        error: ''
      });
      this._items.set(id, item);
    }
    return item;
  }

  private readonly _items = new Map<string, ICompactionItem>();
}
