// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IDisposable } from '@lumino/disposable';

import type { Composer } from '../prompt/composer';

const DRAFT = 'jupyter-acp-bridge:draft:';

/** A draft may hold megabytes, and saving it blocks the page. */
const DELAY_MS = 400;

/** Keeps over a reload of the page what was typed and not sent. */
export class Drafts implements IDisposable {
  constructor(private readonly _storage?: Storage) {
    globalThis.addEventListener?.('pagehide', this._flush);
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      globalThis.removeEventListener?.('pagehide', this._flush);
      this._flush();
    }
  }

  get(id: string): string {
    return this._storage?.getItem(DRAFT + id) ?? '';
  }

  /** Save the draft of a session soon, and each of its later changes. */
  follow(id: string, composer: Composer): void {
    composer.changed.connect(() => {
      this._changed.set(id, composer);
      this._timer ??= setTimeout(this._flush, DELAY_MS);
    });
  }

  drop(id: string): void {
    this._changed.delete(id);
    this._storage?.removeItem(DRAFT + id);
  }

  private readonly _flush = (): void => {
    clearTimeout(this._timer);
    this._timer = undefined;
    for (const [id, composer] of this._changed) {
      this._save(id, composer.serialized());
    }
    this._changed.clear();
  };

  private _save(id: string, draft: string): void {
    try {
      if (draft) {
        this._storage?.setItem(DRAFT + id, draft);
      } else {
        this._storage?.removeItem(DRAFT + id);
      }
    } catch {
      // More than a page may keep: the draft that was saved before is better than nothing.
    }
  }

  private _isDisposed = false;
  private _timer: ReturnType<typeof setTimeout> | undefined;
  private readonly _changed = new Map<string, Composer>();
}
