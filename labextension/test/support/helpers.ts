// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { TranslationBundle } from '@jupyterlab/translation';

import { Method } from '../../src/protocol';
import { Transcript } from '../../src/transcript/transcript';

export const SESSION = 's1';

/** What there is before anything is translated. */
export const english = {
  __: (text: string, ...values: string[]) =>
    text.replace(/%(\d)/g, (_, number) => values[Number(number) - 1]),
  _n: (one: string, many: string, count: number, ...values: string[]) =>
    english.__(count === 1 ? one : many, String(count), ...values)
} as unknown as TranslationBundle;

/** A numbered notification, as the server sends it. */
export function numbered(
  seq: number,
  params: Record<string, unknown>,
  meta: Record<string, unknown> = {}
): Record<string, unknown> {
  return {
    sessionId: SESSION,
    ...params,
    _meta: { 'jupyter-acp': { seq, ...meta } }
  };
}

/** Feeds a transcript with messages that it numbers itself. */
export class Feed {
  readonly transcript = new Transcript();

  update(update: Record<string, unknown>): void {
    this.send(Method.sessionUpdate, { update });
  }

  text(sessionUpdate: string, text: string, extra: object = {}): void {
    this.update({ sessionUpdate, content: { type: 'text', text }, ...extra });
  }

  /** What somebody has said in a window of the server's. */
  prompt(text: string): void {
    const content = { type: 'text', text };
    const update = { sessionUpdate: 'user_message_chunk', content };
    this.send(Method.sessionUpdate, { update }, { origin: 'w1' });
  }

  state(state: string, extra: object = {}): void {
    this.send(Method.state, { state, ...extra });
  }

  send(
    method: string,
    params: Record<string, unknown>,
    meta: Record<string, unknown> = {}
  ): void {
    const result = this.transcript.receive(
      method,
      numbered(this.transcript.seq + 1, params, meta)
    );
    expect(result).toBe('applied');
  }
}

export async function until(
  condition: () => boolean,
  what = 'condition'
): Promise<void> {
  const deadline = Date.now() + 5000;
  while (!condition()) {
    if (Date.now() > deadline) {
      throw new Error(`timed out: ${what}`);
    }
    await new Promise(resolve => setTimeout(resolve, 5));
  }
}
