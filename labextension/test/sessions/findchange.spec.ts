// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { AcpApi } from '../../src/connection/rest';
import { Method } from '../../src/protocol';
import { findChange } from '../../src/sessions/findchange';
import { Sessions } from '../../src/sessions/sessions';
import { SESSION } from '../support/helpers';
import { FakeServer } from '../support/server';

describe('findChange', () => {
  let server: FakeServer;
  let sessions: Sessions;

  beforeEach(async () => {
    server = await FakeServer.start();
    sessions = new Sessions({
      connection: server.connection(),
      api: {
        sessions: () => Promise.resolve([{ id: SESSION, agent: 'mine' }])
      } as unknown as AcpApi
    });
    server.serveAttach(() => ({
      session: { id: SESSION, agent: 'mine', seq: server.log.length }
    }));
    server.text('agent_message_chunk', 'edits');
    server.publish(Method.sessionUpdate, {
      update: {
        sessionUpdate: 'tool_call',
        toolCallId: 'call',
        title: 'Edit',
        status: 'completed',
        content: [{ type: 'diff', path: '/a', oldText: 'a', newText: 'b' }]
      }
    });
  });

  afterEach(() => server.stop());

  it('waits for the transcript of a session that nobody has opened', async () => {
    const found = await findChange(sessions, SESSION, 'call:0');
    expect(found).toMatchObject({
      session: { id: SESSION },
      change: { path: '/a', oldText: 'a', newText: 'b' }
    });
  });

  it('waits for one that is just being opened', async () => {
    const opening = sessions.follow(SESSION);
    const found = await findChange(sessions, SESSION, 'call:0');
    expect(found?.session).toBe(await opening);
    expect(found?.change.key).toBe('call:0');
  });

  it('loads a change of a result again', async () => {
    const file = { status: 'M', path: 'a-1.txt', oldPath: 'b.txt' };
    server.answers[Method.remoteReview] = ({ number }) => ({
      commits: { commits: [], total: 0 },
      files: { files: number === 2 ? [file] : [], total: 1 }
    });
    server.answers[Method.remoteFile] = ({ oldPath }) => ({
      before: { text: oldPath },
      after: { text: 'after' }
    });
    const find = (key: string) => findChange(sessions, SESSION, key);
    const found = await find('result-2-a-1.txt');
    expect(found?.change).toEqual({
      key: 'result-2-a-1.txt',
      path: 'a-1.txt',
      oldText: 'b.txt',
      newText: 'after'
    });
    expect(await find('result-1-a-1.txt')).toBeNull();
  });

  it('finds none where there is none any more', async () => {
    expect(await findChange(sessions, SESSION, 'call:1')).toBeNull();
    // The server refuses what it does not have.
    const refuse = () => {
      throw new Error('no such thing');
    };
    server.answers[Method.remoteReview] = refuse;
    expect(await findChange(sessions, SESSION, 'result-1-a')).toBeNull();
    server.answers[Method.attach] = refuse;
    expect(await findChange(sessions, 'gone', 'call:0')).toBeNull();
  });
});
