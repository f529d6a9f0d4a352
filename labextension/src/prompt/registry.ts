// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { DisposableDelegate, type IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

/** How long a provider may take, in milliseconds. */
export const DEADLINE_MS = 2000;

/** What other extensions and we ourselves have added, in that order. */
export class Registry<T extends { readonly id: string }> {
  get all(): readonly T[] {
    return this._all;
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  add(provider: T): IDisposable {
    if (this._all.some(({ id }) => id === provider.id)) {
      throw new Error(`There is a provider "${provider.id}" already.`);
    }
    this._all = [...this._all, provider];
    this._changed.emit();
    return new DisposableDelegate(() => {
      this._all = this._all.filter(each => each !== provider);
      this._changed.emit();
    });
  }

  private _all: readonly T[] = [];
  private readonly _changed = new Signal<this, void>(this);
}

/** What a provider returns, or something else if it fails or takes too long. */
export async function within<T>(
  id: string,
  work: (signal: AbortSignal) => Promise<T>,
  fallback: T,
  signal?: AbortSignal
): Promise<T> {
  const controller = new AbortController();
  const ended = new Promise<never>((_, reject) =>
    controller.signal.addEventListener('abort', () =>
      reject(controller.signal.reason as Error)
    )
  );
  // Whoever has lost is not listened to any more.
  ended.catch(() => undefined);
  const stop = (): void => controller.abort();
  const timer = setTimeout(
    () => controller.abort(new Error('It took too long.')),
    DEADLINE_MS
  );
  signal?.addEventListener('abort', stop);
  try {
    return await Promise.race([work(controller.signal), ended]);
  } catch (error) {
    if (!signal?.aborted) {
      console.warn(`jupyter-acp: the provider ${id} failed`, error);
    }
    return fallback;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}
