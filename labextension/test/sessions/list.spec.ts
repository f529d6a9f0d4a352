// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { type ISessionInfo, Method } from '../../src/protocol';
import { SessionList, statusOf } from '../../src/sessions/list';
import { until } from '../support/helpers';
import { FakeServer } from '../support/server';

function info(id: string, rest: Partial<ISessionInfo> = {}): ISessionInfo {
  return { id, agent: 'mine', ...rest };
}

describe('statusOf', () => {
  it.each([
    ['ready', { state: 'idle' }],
    ['running', { state: 'running', failed: true }],
    ['waiting', { state: 'running', waiting: 2 }],
    ['done', { state: 'idle', stopReason: 'end_turn' }],
    ['done', { state: 'disconnected', stopReason: 'end_turn' }],
    ['failed', { state: 'idle', failed: true }],
    ['failed', { state: 'disconnected', failed: true }],
    ['ready', { state: 'disconnected', error: 'The agent was stopped.' }],
    ['closed', { state: 'closed', stopReason: 'cancelled' }]
  ] as [string, Partial<ISessionInfo>][])('says %s', (status, rest) => {
    expect(statusOf(info('s', rest))).toBe(status);
  });
});

describe('SessionList', () => {
  let server: FakeServer;
  let answer: () => Promise<ISessionInfo[]>;
  let list: SessionList;

  const changed = (session: ISessionInfo) =>
    server.send({ method: Method.sessionsChanged, params: { session } });
  const removed = (sessionId: string) =>
    server.send({ method: Method.sessionsRemoved, params: { sessionId } });
  const ids = () => list.all.map(({ id }) => id);

  beforeEach(async () => {
    server = await FakeServer.start();
    answer = () =>
      Promise.resolve([
        info('old', { updated: '2026-01-01T00:00:00Z' }),
        info('new', { updated: '2026-01-02T00:00:00Z' })
      ]);
    list = new SessionList({
      connection: server.connect(),
      api: { sessions: () => answer() }
    });
  });

  afterEach(() => server.stop());

  it('is loaded with the connection, the latest first', async () => {
    await until(() => list.isLoaded);
    expect(ids()).toEqual(['new', 'old']);
  });

  it('follows what the server tells', async () => {
    await until(() => list.isLoaded);
    changed(info('old', { updated: '2026-01-03T00:00:00Z', title: 'Again' }));
    changed(info('newest', { updated: '2026-01-04T00:00:00Z' }));
    removed('new');
    await until(() => !list.get('new'));
    expect(ids()).toEqual(['newest', 'old']);
    expect(list.get('old')?.title).toBe('Again');
  });

  it('takes what it was told for newer than what it had asked for', async () => {
    await until(() => list.isLoaded);
    let respond: (sessions: ISessionInfo[]) => void = () => undefined;
    answer = () => new Promise(resolve => (respond = resolve));
    const loading = list.load();
    changed(info('old', { title: 'Told' }));
    removed('new');
    await until(() => !list.get('new'));
    respond([info('old', { title: 'Asked' }), info('new')]);
    await loading;
    expect(ids()).toEqual(['old']);
    expect(list.get('old')?.title).toBe('Told');
  });

  it('tells of what changed while the window was not connected', async () => {
    await until(() => list.isLoaded);
    const changes: SessionList.IChange[] = [];
    list.sessionChanged.connect((_, change) => changes.push(change));
    answer = () => Promise.resolve([info('old', { waiting: 1 })]);
    server.drop();
    await until(() => changes.length === 2);
    expect(changes.map(({ id, after }) => [id, after?.waiting])).toEqual([
      ['new', undefined],
      ['old', 1]
    ]);
  });

  it('says why it could not be loaded, and tries again', async () => {
    await until(() => list.isLoaded);
    answer = () => Promise.reject(new Error('no database'));
    await list.load();
    expect(list.problem).toBe('no database');
    expect(ids()).toEqual(['new', 'old']);
    answer = () => Promise.resolve([]);
    await list.load();
    expect(list.problem).toBe('');
    expect(ids()).toEqual([]);
  });
});
