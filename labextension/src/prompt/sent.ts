// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { Attachment } from '../api/attachment';
import type { IQueuedPrompt } from '../protocol';
import type { Composer, IComposed, ISent } from './composer';

/** How long the server may take to write down what it has not queued, either. */
const SETTLE_MS = 1500;

/** A prompt that is on its way to the agent, or waits for the turns before it. */
export interface IWaitingPrompt {
  readonly id: string;
  readonly text: string;
  readonly attachments: readonly Attachment[];
}

/**
 * What was sent and is not yet written down. Each prompt has a name, by which
 * it is found in the transcript or in the server's queue; one that is in
 * neither goes back to where it was written.
 */
export class SentPrompts {
  constructor(
    private readonly _composer: Composer,
    private readonly _changed: () => void
  ) {}

  /** Those of this window, and those of others that the server has queued. */
  get waiting(): readonly IWaitingPrompt[] {
    const { sent } = this._composer;
    const others = this._queued.filter(
      ({ promptId }) => !sent.some(({ id }) => id === promptId)
    );
    return [
      ...sent,
      ...others.map(({ promptId, text }) => ({
        id: promptId,
        text,
        attachments: []
      }))
    ];
  }

  /** Remember what is about to be sent. */
  begin(composed: IComposed): ISent {
    const sent = this._composer.send(composed);
    this._asked.add(sent.id);
    return sent;
  }

  /** Its request was answered, or will never be. */
  ended(id: string): void {
    this._asked.delete(id);
  }

  isSent(id: string): boolean {
    return this._composer.sent.some(each => each.id === id);
  }

  /** The transcript has it. */
  arrived(id: string): void {
    this._composer.arrived(id);
  }

  giveBack(id: string): void {
    this._composer.giveBack(id);
  }

  setQueue(queued: readonly IQueuedPrompt[]): void {
    this._queued = queued;
  }

  /** Give back what neither the transcript nor the queue holds, once both are known. */
  settle(isReplayed: boolean): void {
    if (!isReplayed || this._lost().length === 0) {
      clearTimeout(this._settling);
      this._settling = undefined;
    } else {
      this._settling ??= setTimeout(() => {
        this._settling = undefined;
        for (const { id } of this._lost()) {
          this.giveBack(id);
        }
        this._changed();
      }, SETTLE_MS);
    }
  }

  dispose(): void {
    clearTimeout(this._settling);
  }

  private _lost(): ISent[] {
    return this._composer.sent.filter(
      ({ id }) =>
        !this._asked.has(id) &&
        !this._queued.some(({ promptId }) => promptId === id)
    );
  }

  /** Those whose requests have not been answered yet. */
  private readonly _asked = new Set<string>();
  private _queued: readonly IQueuedPrompt[] = [];
  private _settling: ReturnType<typeof setTimeout> | undefined;
}
