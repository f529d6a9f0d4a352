// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Signal } from '@lumino/signaling';

import type { ISessionInfo } from '../../src/protocol';
import { Attention } from '../../src/sessions/attention';
import type { SessionList } from '../../src/sessions/list';

/** As much of a list as attention looks at. */
class Sessions {
  readonly sessionChanged = new Signal<this, SessionList.IChange>(this);
  private readonly _sessions = new Map<string, ISessionInfo>();

  get all(): ISessionInfo[] {
    return [...this._sessions.values()];
  }

  set(id: string, rest: Partial<ISessionInfo>): void {
    const before = this._sessions.get(id);
    const after = { id, agent: 'mine', ...rest };
    this._sessions.set(id, after);
    this.sessionChanged.emit({ id, before, after });
  }

  remove(id: string): void {
    const before = this._sessions.get(id);
    this._sessions.delete(id);
    this.sessionChanged.emit({ id, before });
  }
}

const RUNNING = { state: 'running' } as const;
const WAITING = { state: 'running', waiting: 1 } as const;
const DONE = { state: 'idle', stopReason: 'end_turn' } as const;
const FAILED = { state: 'idle', failed: true } as const;

describe('Attention', () => {
  let sessions: Sessions;
  let attention: Attention;
  let told: string[];

  beforeEach(() => {
    sessions = new Sessions();
    attention = new Attention({
      list: sessions as unknown as SessionList,
      isAwaited: id => id !== 'stranger'
    });
    told = [];
    attention.called.connect((_, { id, status }) =>
      told.push(`${id} ${status}`)
    );
    attention.settled.connect((_, id) => told.push(`${id} settled`));
    sessions.set('a', RUNNING);
    sessions.set('stranger', RUNNING);
  });

  it('calls to what waits, and settles when that is answered', () => {
    sessions.set('a', WAITING);
    sessions.set('a', { ...WAITING, waiting: 2 });
    expect(told).toEqual(['a waiting']);
    expect(attention.waiting).toBe(1);
    sessions.set('a', RUNNING);
    expect(told).toEqual(['a waiting', 'a settled']);
    expect(attention.waiting).toBe(0);
  });

  it('calls when a turn ends, well or not', () => {
    sessions.set('a', DONE);
    sessions.set('a', RUNNING);
    sessions.set('a', FAILED);
    expect(told).toEqual(['a done', 'a settled', 'a failed']);
  });

  it('does not tell of what nobody here has worked with, unless it waits', () => {
    sessions.set('stranger', DONE);
    expect(told).toEqual([]);
    sessions.set('stranger', WAITING);
    expect(told).toEqual(['stranger waiting']);
  });

  it('is silent about what is to be seen', () => {
    const view = {};
    attention.look(view, 'a');
    sessions.set('a', WAITING);
    sessions.set('a', DONE);
    expect(told).toEqual([]);
    attention.look(view, null);
    sessions.set('a', RUNNING);
    sessions.set('a', DONE);
    expect(told).toEqual(['a done']);
  });

  it('settles when it is looked at, once', () => {
    sessions.set('a', WAITING);
    attention.look({}, 'a');
    attention.look({}, 'a');
    expect(told).toEqual(['a waiting', 'a settled']);
  });

  it('knows that two views can show the same', () => {
    const [one, other] = [{}, {}];
    attention.look(one, 'a');
    attention.look(other, 'a');
    attention.look(one, null);
    expect(attention.isSeen('a')).toBe(true);
    attention.look(other, 'stranger');
    expect(attention.isSeen('a')).toBe(false);
  });

  it('takes neither a session that comes nor one that was closed for an end', () => {
    sessions.set('b', DONE);
    sessions.set('b', { state: 'closed' });
    sessions.set('b', DONE);
    expect(told).toEqual([]);
  });

  it('settles when the session is no more', () => {
    sessions.set('a', WAITING);
    sessions.remove('a');
    expect(told).toEqual(['a waiting', 'a settled']);
  });
});
