// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { AcpApi } from '../../src/connection/rest';
import { ErrorCode, type IRemoteInspection, Method } from '../../src/protocol';
import { bestChoice, choicesFor } from '../../src/remote/choices';
import { resultToken } from '../../src/remote/progress';
import { RemoteSetup } from '../../src/remote/setup';
import { Sessions } from '../../src/sessions/sessions';
import { SESSION, until } from '../support/helpers';
import { FakeServer } from '../support/server';

const REF = {
  type: 'git' as const,
  url: 'https://example.org/you/project.git',
  branch: 'main',
  revision: 'a'.repeat(40)
};
const SCRATCH = { ...REF, branch: 'acp/scratch', revision: 'b'.repeat(40) };

function found(rest: Partial<IRemoteInspection> = {}): IRemoteInspection {
  return {
    toplevel: '/root/project',
    folder: 'sub',
    remote: 'origin',
    url: REF.url,
    branch: 'main',
    revision: REF.revision,
    pushed: true,
    unpushed: 0,
    changes: [],
    changeCount: 0,
    newCount: 0,
    ref: REF,
    canPush: true,
    problems: [],
    warnings: [],
    ...rest
  };
}

const ahead = { pushed: false, unpushed: 2 };
const dirty = {
  changes: [{ status: 'M', path: 'a', files: 1 }],
  changeCount: 1
};
const withNew = {
  changes: [...dirty.changes, { status: '?', path: 'new/', files: 500 }],
  changeCount: 501,
  newCount: 500
};

describe('choices', () => {
  const ways = (rest: Partial<IRemoteInspection>) =>
    choicesFor(found(rest)).map(
      ({ way, obstacle }) => `${way}${obstacle ? ` (${obstacle})` : ''}`
    );
  const best = (rest: Partial<IRemoteInspection>) =>
    bestChoice(choicesFor(found(rest)))?.way;

  it('are those that make a difference', () => {
    expect(ways({})).toEqual(['there']);
    expect(ways(ahead)).toEqual(['there', 'commits']);
    expect(ways(dirty)).toEqual(['there', 'everything']);
    expect(ways({ ...ahead, ...dirty })).toEqual([
      'there',
      'commits',
      'everything'
    ]);
  });

  it('leave nothing out unless somebody says so', () => {
    expect(best({})).toBe('there');
    expect(best(ahead)).toBe('commits');
    expect(best({ ...ahead, ...dirty })).toBe('everything');
    expect(best({ ...ahead, ...dirty, canPush: false })).toBe('there');
  });

  it('are left to the person where files are new, which may be anything', () => {
    expect(best({ ...ahead, ...withNew })).toBeUndefined();
    expect(best(withNew)).toBeUndefined();
    // Where they cannot be pushed, there is nothing to decide.
    expect(best({ ...withNew, canPush: false })).toBe('there');
    expect(choicesFor(found(withNew)).at(-1)).toMatchObject({
      files: 501,
      newFiles: 500
    });
  });

  it('are explained if they are impossible', () => {
    expect(ways({ ...ahead, ref: null })).toEqual([
      'there (nothingThere)',
      'commits'
    ]);
    expect(ways({ ...ahead, ...dirty, canPush: false })).toEqual([
      'there',
      'commits (cannotPush)',
      'everything (cannotPush)'
    ]);
    expect(best({ ref: null, canPush: false })).toBeUndefined();
  });

  it('tell what is pushed and what is left out', () => {
    expect(choicesFor(found({ ...ahead, ...dirty }))).toMatchObject([
      { commits: 0, files: 0, commitsLeft: 2, filesLeft: 1 },
      { commits: 2, files: 0, commitsLeft: 0, filesLeft: 1 },
      { commits: 2, files: 1, commitsLeft: 0, filesLeft: 0 }
    ]);
  });
});

describe('a remote session', () => {
  let server: FakeServer;
  let sessions: Sessions;
  let setup: RemoteSetup;
  const api = { sessions: () => Promise.resolve([]) } as unknown as AcpApi;

  const refuse = (message: string, code = -32603) => {
    throw Object.assign(new Error(message), { code });
  };
  const progress = (token: unknown, percent: number) =>
    server.send({
      method: Method.remoteProgress,
      params: { token, stage: 'Receiving objects', percent, detail: '1 MiB' }
    });

  beforeEach(async () => {
    server = await FakeServer.start();
    server.answers[Method.remoteInspect] = () => found({ ...ahead, ...dirty });
    server.answers[Method.remotePush] = () => ({ ref: SCRATCH });
    server.answers[Method.sessionNew] = () => ({ sessionId: SESSION });
    sessions = new Sessions({ connection: server.connection(), api });
    setup = new RemoteSetup({ sessions, folder: '/project/sub/', agent: 'my' });
  });

  afterEach(() => server.stop());

  it('is about the repository of a folder', async () => {
    const looking = setup.look();
    expect(setup.isLooking).toBe(true);
    await looking;
    expect(server.requests(Method.remoteInspect)[0].params).toEqual({
      cwd: '/root/project/sub'
    });
    expect(setup.choice?.way).toBe('everything');
    expect(setup.canStart).toBe(true);
    server.answers[Method.remoteInspect] = () => refuse('No repository here.');
    await setup.look('');
    expect(server.requests(Method.remoteInspect)[1].params).toEqual({
      cwd: '/root'
    });
    expect(setup.problem).toBe('No repository here.');
    expect(setup.found).toBeNull();
    expect(setup.canStart).toBe(false);
  });

  it('does not begin as long as something is in the way', async () => {
    server.answers[Method.remoteInspect] = () =>
      found({ problems: [{ code: 'x', message: 'No.', blocking: true }] });
    await setup.look();
    expect(setup.canStart).toBe(false);
    await setup.start();
    expect(server.requests(Method.sessionNew)).toEqual([]);
  });

  it('keeps what was chosen when it looks again, if that is still possible', async () => {
    await setup.look();
    setup.choose('commits');
    await setup.look();
    expect(setup.choice?.way).toBe('commits');
    server.answers[Method.remoteInspect] = () =>
      found({ ...ahead, ...dirty, canPush: false });
    await setup.look();
    setup.choose('everything');
    expect(setup.choice?.way).toBe('there');
  });

  it('begins with what was pushed', async () => {
    await setup.look();
    await setup.start();
    const [push] = server.requests(Method.remotePush);
    const [created] = server.requests(Method.sessionNew);
    const { progressToken } = push.params!;
    expect(push.params).toEqual({
      cwd: '/root/project/sub',
      uncommitted: true,
      progressToken
    });
    expect(created.params).toEqual({
      cwd: '/root/project/sub',
      mcpServers: [],
      remote: SCRATCH,
      _meta: {
        'jupyter-acp': {
          agent: 'my',
          remote: SCRATCH,
          home: true,
          folder: 'sub',
          progressToken
        }
      }
    });
    expect(sessions.current?.id).toBe(SESSION);
    expect(setup.step).toBeNull();
  });

  it('begins with what is on the remote, and pushes nothing', async () => {
    await setup.look();
    setup.choose('there');
    await setup.start();
    expect(server.requests(Method.remotePush)).toEqual([]);
    expect(server.requests(Method.sessionNew)[0].params).toMatchObject({
      remote: REF
    });
  });

  it('tells how far git is, as long as it is at work', async () => {
    delete server.answers[Method.sessionNew];
    await setup.look();
    const starting = setup.start();
    const { id, params } = await server.waitFor(Method.sessionNew);
    const meta = params!._meta as Record<string, Record<string, unknown>>;
    expect(setup.step).toBe('start');
    progress('of another window', 10);
    progress(meta['jupyter-acp'].progressToken, 45);
    await until(() => setup.progress !== undefined);
    expect(setup.progress).toMatchObject({ percent: 45, detail: '1 MiB' });
    server.send({ id, result: { sessionId: SESSION } });
    await starting;
    expect(setup.progress).toBeUndefined();
  });

  it('can be cancelled while it is pushed', async () => {
    delete server.answers[Method.remotePush];
    await setup.look();
    const starting = setup.start();
    const { id } = await server.waitFor(Method.remotePush);
    setup.cancel();
    const cancel = await server.waitFor(Method.cancelRequest);
    expect(cancel.params).toEqual({ requestId: id });
    server.send({
      id,
      error: { code: ErrorCode.cancelled, message: 'Cancelled.' }
    });
    await starting;
    expect(setup.problem).toBe('');
    expect(setup.canStart).toBe(true);
    expect(server.requests(Method.sessionNew)).toEqual([]);
  });

  it('does not go on if it was cancelled too late to stop the push', async () => {
    delete server.answers[Method.remotePush];
    await setup.look();
    const starting = setup.start();
    const { id } = await server.waitFor(Method.remotePush);
    setup.cancel();
    server.send({ id, result: { ref: SCRATCH } });
    await starting;
    expect(server.requests(Method.sessionNew)).toEqual([]);
  });

  it('says what went wrong, and begins a second time with what is here then', async () => {
    const refs = ['b', 'c'].map(digit => ({
      ...SCRATCH,
      revision: digit.repeat(40)
    }));
    server.answers[Method.remotePush] = () => ({
      ref: refs[server.requests(Method.remotePush).length - 1]
    });
    server.answers[Method.sessionNew] = () => refuse('The disk is full.');
    await setup.look();
    await setup.start();
    expect(setup.problem).toBe('The disk is full.');
    server.answers[Method.sessionNew] = () => ({ sessionId: SESSION });
    await setup.start();
    expect(setup.problem).toBe('');
    expect(
      server.requests(Method.sessionNew).map(({ params }) => params!.remote)
    ).toEqual(refs);
  });

  it('does not begin before it is said what becomes of new files', async () => {
    server.answers[Method.remoteInspect] = () => found(withNew);
    await setup.look();
    expect(setup.choice).toBeNull();
    expect(setup.canStart).toBe(false);
    setup.choose('everything');
    expect(setup.canStart).toBe(true);
    await setup.look();
    expect(setup.choice?.way).toBe('everything');
  });

  it('shows the revision that is sent', async () => {
    const here = 'd'.repeat(40);
    server.answers[Method.remoteInspect] = () =>
      found({ ...ahead, ...dirty, revision: here });
    await setup.look();
    expect(setup.revision).toBeNull();
    setup.choose('commits');
    expect(setup.revision).toBe(here);
    setup.choose('there');
    expect(setup.revision).toBe(REF.revision);
  });

  it('leaves logins to who asked for it', async () => {
    delete server.answers[Method.sessionNew];
    await setup.look();
    const starting = setup.start();
    const { id } = await server.waitFor(Method.sessionNew);
    const authMethods = [{ id: 'm', name: 'M', type: 'agent' }];
    server.send({
      id,
      error: {
        code: ErrorCode.authRequired,
        message: 'Log in.',
        data: { _meta: { 'jupyter-acp': { agent: 'my', authMethods } } }
      }
    });
    await expect(starting).rejects.toThrow('Log in.');
    expect(setup.problem).toBe('');
    expect(setup.canStart).toBe(true);
  });

  it('forgets how far a fetch was when it is over, or nobody tells any more', async () => {
    await setup.look();
    const token = resultToken(SESSION, 1);
    const known = () => sessions.progress.get(token);
    progress(token, 45);
    await until(() => known() !== undefined);
    const tell = (state: string) =>
      server.send({
        method: Method.remoteResult,
        params: { sessionId: SESSION, number: 1, target: REF, state }
      });
    tell('fetching');
    progress(token, 50);
    await until(() => known()?.percent === 50);
    tell('ready');
    await until(() => known() === undefined);
    progress(token, 60);
    await until(() => known() !== undefined);
    server.drop();
    await until(() => known() === undefined);
  });
});
