// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IDisposable } from '@lumino/disposable';

/** Long enough for what one gesture changes to arrive together. */
const FIRST_DELAY_MS = 20;

/** Ten times a second at most. */
const INTERVAL_MS = 100;

/** Calls back soon after it is asked to, and rarely if asked often. */
export class Throttle implements IDisposable {
  constructor(private readonly _callback: () => void) {}

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  request(): void {
    if (this._timer !== undefined || this._isDisposed) {
      return;
    }
    const wait = this._last + INTERVAL_MS - performance.now();
    this._timer = setTimeout(
      () => {
        this._timer = undefined;
        this._callback();
        this._last = performance.now();
      },
      Math.max(FIRST_DELAY_MS, wait)
    );
  }

  /** Forget what was asked for. */
  cancel(): void {
    clearTimeout(this._timer);
    this._timer = undefined;
  }

  dispose(): void {
    this._isDisposed = true;
    this.cancel();
  }

  private _timer: ReturnType<typeof setTimeout> | undefined;
  private _last = -Infinity;
  private _isDisposed = false;
}
