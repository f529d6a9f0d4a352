// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IAcpConnection } from '../../src/api/connection';
import type { AcpApi } from '../../src/connection/rest';
import { RpcError } from '../../src/connection/rpc';
import { Method } from '../../src/protocol';
import type { IResultItem } from '../../src/remote/items';
import { GitProgress } from '../../src/remote/progress';
import { Results, refusedBy } from '../../src/remote/results';
import { Sessions } from '../../src/sessions/sessions';
import { Transcript } from '../../src/transcript/transcript';
import { Feed, SESSION, numbered, until } from '../support/helpers';
import { FakeServer } from '../support/server';

const target = (number: number) => ({
  type: 'git' as const,
  url: 'https://example.org/you/project.git',
  branch: `acp/${number}`,
  revision: String(number).repeat(40)
});

const told = (number: number, state: string, rest: object = {}) => ({
  number,
  target: target(number),
  state,
  ...rest
});

const shown = ({ items }: Transcript): string[] =>
  items.map(item =>
    item.kind === 'result'
      ? `${item.result.number} ${item.result.state}`
      : item.kind
  );

describe('results in a transcript', () => {
  const tell = (feed: Feed, ...result: Parameters<typeof told>) =>
    feed.send(Method.remoteResult, told(...result));

  it('change in place, where they first came', () => {
    const feed = new Feed();
    feed.text('agent_message_chunk', 'done');
    tell(feed, 1, 'there');
    feed.prompt('go on');
    const item = feed.transcript.items[1] as IResultItem;
    const { revision } = item;
    tell(feed, 1, 'ready');
    expect(shown(feed.transcript)).toEqual(['agent', '1 ready', 'user']);
    expect(feed.transcript.items[1]).toBe(item);
    expect(item.revision).toBeGreaterThan(revision);
    tell(feed, 1, 'merged', { message: 'Merged into main.', undo: 'id' });
    expect(item.result).toMatchObject({
      message: 'Merged into main.',
      undo: 'id'
    });
    // What was said of one state does not hold for the next.
    tell(feed, 1, 'ready');
    expect(item.result.message).toBeUndefined();
    expect(item.result.undo).toBeUndefined();
  });

  it('are kept over several prompts', () => {
    const feed = new Feed();
    tell(feed, 1, 'there');
    feed.text('agent_message_chunk', 'more');
    tell(feed, 2, 'there');
    tell(feed, 1, 'discarded');
    tell(feed, 2, 'ready');
    expect(shown(feed.transcript)).toEqual(['1 discarded', 'agent', '2 ready']);
  });

  it('part what is said before from what is said after', () => {
    const feed = new Feed();
    feed.text('agent_message_chunk', 'before');
    tell(feed, 1, 'there');
    feed.text('agent_message_chunk', 'after');
    // News of an old one do not.
    tell(feed, 1, 'ready');
    feed.text('agent_message_chunk', ', too');
    expect(shown(feed.transcript)).toEqual(['agent', '1 ready', 'agent']);
  });

  it('cannot be shown if they name no place', () => {
    const feed = new Feed();
    feed.send(Method.remoteResult, { state: 'there' });
    expect(feed.transcript.items).toMatchObject([{ kind: 'dropped' }]);
  });

  it('are the same on every replay', () => {
    const messages = [
      told(1, 'there'),
      told(1, 'fetching'),
      told(2, 'there'),
      told(1, 'ready'),
      told(2, 'failed', { message: 'gone' })
    ].map((params, index) => numbered(index + 1, params));
    const once = new Transcript();
    const often = new Transcript();
    for (const message of messages) {
      once.receive(Method.remoteResult, message);
    }
    for (let end = 1; end <= messages.length; end++) {
      for (const message of messages.slice(0, end)) {
        often.receive(Method.remoteResult, message);
      }
    }
    expect(shown(once)).toEqual(['1 ready', '2 failed']);
    expect(often.items).toEqual(once.items);
  });
});

describe('results of a session', () => {
  let server: FakeServer;
  let connection: IAcpConnection;
  let results: Results;

  beforeEach(async () => {
    server = await FakeServer.start();
    connection = server.connect();
    await connection.ready;
    results = new Results(connection, new GitProgress(connection), SESSION);
  });

  afterEach(() => server.stop());

  it('are followed over a lost connection', async () => {
    server.serveAttach();
    const api = { sessions: () => Promise.resolve([{ id: SESSION }]) };
    const sessions = new Sessions({
      connection,
      api: api as unknown as AcpApi
    });
    const model = await sessions.open(SESSION);
    server.publish(Method.remoteResult, told(1, 'fetching'));
    await until(() => model.transcript.seq === 1);
    server.drop();
    server.publish(Method.remoteResult, told(1, 'ready'));
    server.publish(Method.remoteResult, told(2, 'there'));
    await until(() => model.transcript.seq === 3);
    expect(shown(model.transcript)).toEqual(['1 ready', '2 there']);
    sessions.dispose();
  });

  it('are asked for once, and again if that failed', async () => {
    server.answers[Method.remoteReview] = () => {
      throw new Error('not yet');
    };
    await expect(results.review(1)).rejects.toThrow('not yet');
    const review = {
      commits: { commits: [], total: 0 },
      files: { files: [{ status: 'M', path: 'a.txt' }], total: 1 }
    };
    server.answers[Method.remoteReview] = () => review;
    expect(await results.review(1)).toEqual(review);
    expect(await results.review(1)).toEqual(review);
    expect(server.requests(Method.remoteReview)).toHaveLength(2);
    expect(server.requests(Method.remoteReview)[0].params).toEqual({
      sessionId: SESSION,
      number: 1
    });
  });

  it('show files that changed, were made, were deleted or moved', async () => {
    const none = { text: null, reason: 'missing', message: 'No file.' };
    const text = (text: string) => ({ text, reason: null, message: '' });
    const show = (before: object, after: object, path: string) => {
      server.answers[Method.remoteFile] = () => ({ before, after });
      return results.file(1, { status: 'M', path, oldPath: `old/${path}` });
    };
    const changed = await show(text('a'), text('b'), 'changed');
    expect(changed.change).toMatchObject({ oldText: 'a', newText: 'b' });
    expect(server.requests(Method.remoteFile)[0].params).toMatchObject({
      path: 'changed',
      oldPath: 'old/changed'
    });
    expect((await show(none, text('b'), 'made')).change).toMatchObject({
      oldText: null,
      newText: 'b'
    });
    expect((await show(text('a'), none, 'deleted')).change).toMatchObject({
      oldText: 'a',
      newText: ''
    });
  });

  it('say why a file cannot be shown', async () => {
    const binary = { text: null, reason: 'binary', message: 'Not a text.' };
    const show = async (path: string, before: object, after: object) => {
      server.answers[Method.remoteFile] = () => ({ before, after });
      return results.file(1, { status: 'M', path });
    };
    const why = { change: null, reason: 'Not a text.' };
    expect(await show('a', { text: 'a' }, binary)).toEqual(why);
    expect(await show('b', binary, binary)).toEqual(why);
    expect(await show('c', { text: null, reason: 'missing' }, binary)).toEqual(
      why
    );
    const link = { text: null, reason: 'symlink', message: 'A link to b.' };
    expect((await show('d', binary, link)).reason).toBe(
      'Not a text. A link to b.'
    );
  });

  it('tell which files are in the way of what was refused', () => {
    const files = ['a.txt', 'b.txt'];
    expect(
      refusedBy(new RpcError('Not clean.', -32000, { files, reason: 'dirty' }))
    ).toEqual({ message: 'Not clean.', files });
    expect(refusedBy(new Error('no connection'))).toEqual({
      message: 'no connection',
      files: []
    });
  });
});
