// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IAcpConnection } from '../../src/api/connection';
import { ConnectionLostError, RpcError } from '../../src/connection/rpc';
import { until } from '../support/helpers';
import { FakeServer } from '../support/server';

describe('AcpConnection', () => {
  let server: FakeServer;

  beforeEach(async () => {
    server = await FakeServer.start();
  });

  afterEach(() => server.stop());

  it('connects under the base URL with the token and the subprotocol', async () => {
    const connection = server.connect();
    await connection.ready;
    expect(server.upgrades).toEqual([
      { url: '/base/acp/ws?token=se%20cret', protocol: 'acp.ndjson' }
    ]);
    expect(connection.server).toMatchObject({
      connectionId: 'c1',
      rootDir: '/root'
    });
    expect(server.requests('initialize')[0].params).toMatchObject({
      protocolVersion: 1,
      clientCapabilities: { _meta: { 'jupyter-acp': {} } }
    });
  });

  it('matches answers to requests, whatever their order', async () => {
    const connection = server.connect();
    await connection.ready;
    const one = connection.request('one', {});
    const two = connection.request('two', {});
    const first = await server.waitFor('one');
    const second = await server.waitFor('two');
    server.send({ id: second.id, result: 2 }, { id: first.id, result: 1 });
    expect(await Promise.all([one, two])).toEqual([1, 2]);
  });

  it('tells what an agent hides in the data of an error', async () => {
    const connection = server.connect();
    await connection.ready;
    const asked = connection.request('fails', {});
    const { id } = await server.waitFor('fails');
    const data = { details: 'No more credit' };
    server.send({
      id,
      error: { code: -32603, message: 'Internal error', data }
    });
    await expect(asked).rejects.toThrow('Internal error: No more credit');
  });

  it('rejects with the words of the other side', async () => {
    const connection = server.connect();
    await connection.ready;
    server.answers.fails = () => {
      throw Object.assign(new Error('Say it differently.'), { code: -32602 });
    };
    const error = await connection
      .request('fails', {})
      .catch((each: unknown) => each);
    expect(error).toBeInstanceOf(RpcError);
    expect(error).toMatchObject({
      code: -32602,
      message: 'Say it differently.'
    });
  });

  it('hands on several messages of one frame in their order', async () => {
    const connection = server.connect();
    const seen: unknown[] = [];
    connection.notified.connect((_, { params }) => seen.push(params));
    await connection.ready;
    const pending = connection.request('slow', {}).then(() => seen.length);
    const { id } = await server.waitFor('slow');
    const notes = Array.from({ length: 100 }, (_, params) => ({
      method: 'n',
      params
    }));
    server.send(...notes, { id, result: null });
    expect(await pending).toBe(100);
    expect(seen).toEqual(notes.map(note => note.params));
  });

  it('survives what is not a message', async () => {
    const connection = server.connect();
    await connection.ready;
    jest.spyOn(console, 'warn').mockImplementation(() => undefined);
    server.send({ id: 'never sent', result: 1 });
    server.answers.works = () => 'yes';
    expect(await connection.request('works', {})).toBe('yes');
  });

  it('answers requests once, and unknown ones with -32601', async () => {
    const connection = server.connect();
    connection.addRequestHandler('known', request => {
      request.respond('first');
      request.respond('second');
    });
    await connection.ready;
    server.send({ id: 'a', method: 'known' }, { id: 'b', method: 'craft/x' });
    await until(() => server.received.some(message => message.id === 'b'));
    const answers = server.received.filter(message => message.id === 'a');
    expect(answers).toMatchObject([{ result: 'first' }]);
    expect(server.received.find(message => message.id === 'b')).toMatchObject({
      error: { code: -32601 }
    });
  });

  it('lets each method be answered by one, who may leave', async () => {
    const connection = server.connect();
    const answer = (result: string) =>
      connection.addRequestHandler(result, request => request.respond(result));
    answer('one');
    const two = answer('two');
    expect(() => answer('one')).toThrow('already');
    await connection.ready;
    server.send({ id: 'a', method: 'one' }, { id: 'b', method: 'two' });
    await until(() => server.received.some(message => message.id === 'b'));
    two.dispose();
    server.send({ id: 'c', method: 'two' });
    await until(() => server.received.some(message => message.id === 'c'));
    expect(server.received.slice(-3)).toMatchObject([
      { result: 'one' },
      { result: 'two' },
      { error: { code: -32601 } }
    ]);
  });

  it('asks the other side to cancel and takes its answer', async () => {
    const connection = server.connect();
    await connection.ready;
    const abort = new AbortController();
    const pending = connection.request('slow', {}, { signal: abort.signal });
    const { id } = await server.waitFor('slow');
    abort.abort();
    const cancel = await server.waitFor('$/cancel_request');
    expect(cancel.params).toEqual({ requestId: id });
    server.send({ id, error: { code: -32800, message: 'cancelled' } });
    await expect(pending).rejects.toMatchObject({ code: -32800 });
  });

  it('rejects what is pending when the socket is lost, and comes back', async () => {
    const connection = server.connect();
    const states: IAcpConnection.Status[] = [];
    connection.statusChanged.connect((_, status) => states.push(status));
    await connection.ready;
    const pending = connection.request('slow', {});
    await server.waitFor('slow');
    server.drop();
    await expect(pending).rejects.toBeInstanceOf(ConnectionLostError);
    await until(() => connection.status === 'connected');
    expect(connection.server.connectionId).toBe('c2');
    expect(states).toEqual([
      'connected',
      'disconnected',
      'connecting',
      'connected'
    ]);
  });

  it('refuses requests while there is no socket', async () => {
    const connection = server.connect();
    await expect(connection.request('early', {})).rejects.toThrow(
      'no connection'
    );
    await connection.ready;
  });

  it('never answers on a new socket what was asked on an old one', async () => {
    const connection = server.connect();
    let answer = (): void => undefined;
    connection.addRequestHandler('known', request => {
      answer = () => request.respond('late');
    });
    await connection.ready;
    server.send({ id: 'q', method: 'known' });
    server.answers.ping = () => null;
    await connection.request('ping', {});
    server.drop();
    await until(() => server.connections === 2);
    await until(() => connection.status === 'connected');
    answer();
    await connection.request('ping', {});
    expect(server.received.filter(message => message.id === 'q')).toEqual([]);
  });

  it('stops for good when it is disposed', async () => {
    const connection = server.connect();
    await connection.ready;
    connection.dispose();
    await new Promise(resolve => setTimeout(resolve, 60));
    expect(server.connections).toBe(1);
  });
});
