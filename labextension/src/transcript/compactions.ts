// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { ICompaction } from '../decode/messages';
import { type ICompactionItem, appendContent } from './items';

type NewItem = Omit<ICompactionItem, 'key' | 'revision'>;

/** The times at which an agent summed up what was said, each of them one item. */
export class Compactions {
  constructor(private readonly _push: (item: NewItem) => ICompactionItem) {}

  /** Take what is told of one: all of it, or the next part of its summary. */
  take({ id, status, summary, added, error }: ICompaction): void {
    const item = this._get(id);
    item.status = status ?? item.status;
    item.summary = summary ? [] : item.summary;
    for (const block of summary ?? (added ? [added] : [])) {
      appendContent(item.summary, block);
    }
    item.error = error ?? item.error;
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
