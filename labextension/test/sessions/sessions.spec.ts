// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { AcpApi } from '../../src/connection/rest';
import { EDITOR_CONTEXT } from '../../src/prompt/carrying';
import type { IComposed } from '../../src/prompt/composer';
import { type ISessionInfo, Method, ourMeta } from '../../src/protocol';
import type { SessionModel } from '../../src/sessions/session';
import { Sessions } from '../../src/sessions/sessions';
import { type IMessageItem, messageText } from '../../src/transcript/items';
import { SESSION, until } from '../support/helpers';
import { FakeServer } from '../support/server';

class MemoryStorage {
  private readonly _values = new Map<string, string>();

  getItem(key: string): string | null {
    return this._values.get(key) ?? null;
  }

  setItem(key: string, value: string): void {
    this._values.set(key, value);
  }

  removeItem(key: string): void {
    this._values.delete(key);
  }
}

function said(model: SessionModel): string[] {
  return model.transcript.items
    .filter((item): item is IMessageItem => 'parts' in item)
    .map(messageText);
}

const words = (text: string): IComposed => ({ text, attachments: [] });

describe('Sessions', () => {
  let server: FakeServer;
  let storage: Storage;
  let listed: ISessionInfo[];
  const api = {
    sessions: () => Promise.resolve(listed)
  } as AcpApi;

  const open = () =>
    new Sessions({ connection: server.connect(), api, storage });

  /** As a page that is loaded and in which nothing was opened yet. */
  const load = () =>
    new Sessions({ connection: server.connection(), api, storage });

  beforeEach(async () => {
    server = await FakeServer.start();
    storage = new MemoryStorage() as unknown as Storage;
    listed = [
      { id: SESSION, agent: 'mine' },
      { id: 's2', agent: 'mine' },
      { id: 's3', agent: 'mine' }
    ];
    server.serveAttach();
    server.answers[Method.sessionNew] = () => ({ sessionId: SESSION });
  });

  afterEach(() => server.stop());

  it('creates a session at the root with the chosen agent', async () => {
    const model = await open().create('mine');
    expect(model.info.agent).toBe('mine');
    expect(server.requests(Method.sessionNew)[0].params).toEqual({
      cwd: '/root',
      mcpServers: [],
      _meta: { 'jupyter-acp': { agent: 'mine' } }
    });
  });

  it('wants the focus for what is asked now, and not for what is asked later', async () => {
    const ask = (id: string) =>
      server.send({
        id,
        method: Method.requestPermission,
        params: { sessionId: SESSION, options: [] }
      });
    let pending = ['q1'];
    server.serveAttach(() => ({ pending }));
    const model = await open().follow(SESSION);
    // It is open, and comes right after the answer.
    model.isCardWanted = true;
    expect(model.isCardWanted).toBe(true);
    ask('q1');
    await until(() => model.requests.length === 1);
    expect(model.isCardWanted).toBe(true);
    // Somebody else was quicker.
    server.publish(Method.permissionResolved, { requestId: 'q1' });
    await until(() => model.requests.length === 0);
    expect(model.isCardWanted).toBe(false);
    model.isCardWanted = true;
    expect(model.isCardWanted).toBe(false);
    ask('q2');
    await until(() => model.requests.length === 1);
    expect(model.isCardWanted).toBe(false);
    // Or while there was no connection.
    model.isCardWanted = true;
    expect(model.isCardWanted).toBe(true);
    pending = [];
    await model.attach();
    expect(model.isCardWanted).toBe(false);
  });

  it('keeps what an agent says before its session is known', async () => {
    const sessions = open();
    server.answers[Method.sessionNew] = () => {
      server.text('agent_message_chunk', 'early');
      return { sessionId: SESSION };
    };
    const model = await sessions.create();
    expect(said(model)).toEqual(['early']);
  });

  it('loses and doubles nothing over a hundred lost sockets', async () => {
    const model = await open().create();
    for (let count = 0; count < 500; count++) {
      server.text('agent_message_chunk', `${count},`);
      if (count % 5 === 0) {
        await new Promise(resolve => setTimeout(resolve, 2));
        server.drop();
      }
    }
    await until(() => model.transcript.seq === 500, 'everything');
    expect(said(model).join('')).toBe(
      Array.from({ length: 500 }, (_, count) => `${count},`).join('')
    );
  });

  it('begins anew where its transcript was reloaded from the agent', async () => {
    const model = await open().create();
    server.text('agent_message_chunk', 'old');
    server.publish(Method.sessionUpdate, {
      update: { sessionUpdate: 'usage_update', used: 1, size: 2 }
    });
    server.publish(Method.reloaded, {});
    server.text('agent_message_chunk', 'new');
    await until(() => model.transcript.seq === 4, 'what was reloaded');
    expect(said(model)).toEqual(['new']);
    expect(model.transcript.facts.usage).toMatchObject({ used: 1, size: 2 });
  });

  it('opens a session that was reloaded before', async () => {
    for (let number = 0; number < 3; number++) {
      server.text('agent_message_chunk', 'old');
    }
    server.publish(Method.reloaded, {});
    server.text('agent_message_chunk', 'new');
    // The journal has nothing of what came before.
    server.log.splice(0, 3);
    server.answers[Method.attach] = () => {
      setImmediate(() =>
        server.send(...server.log.map(line => JSON.parse(line) as object))
      );
      return { seq: 5, after: 3, state: 'idle', pending: [] };
    };
    const model = await open().open(SESSION);
    await until(() => model.transcript.seq === 5, 'what was reloaded');
    expect(said(model)).toEqual(['new']);
  });

  it('asks again for what is missing', async () => {
    const model = await open().create();
    server.text('agent_message_chunk', 'a');
    server.log.push(
      JSON.stringify({
        jsonrpc: '2.0',
        method: Method.sessionUpdate,
        params: {
          sessionId: SESSION,
          update: {
            sessionUpdate: 'agent_message_chunk',
            content: { type: 'text', text: 'b' }
          },
          _meta: { 'jupyter-acp': { seq: 2 } }
        }
      })
    );
    server.text('agent_message_chunk', 'c');
    await until(() => model.transcript.seq === 3);
    expect(said(model)).toEqual(['abc']);
  });

  it('begins anew with a server that has lost its last moments', async () => {
    const model = await open().create();
    for (const text of 'abc') {
      server.text('agent_message_chunk', text);
    }
    await until(() => model.transcript.seq === 3);
    const attach = server.answers[Method.attach];
    server.log.pop();
    server.answers[Method.attach] = params => {
      if ((params.after as number) > server.log.length) {
        throw Object.assign(new Error('after'), { code: -32602 });
      }
      return attach(params);
    };
    server.drop();
    await until(() => model.transcript.seq === 2);
    expect(said(model)).toEqual(['ab']);
  });

  it('begins anew with a server that has given its numbers away again', async () => {
    const model = await open().create();
    for (const text of 'abc') {
      server.text('agent_message_chunk', text);
    }
    await until(() => model.transcript.seq === 3);
    server.log.splice(1);
    server.run = 'second';
    server.drop();
    for (const text of 'xyz') {
      server.text('agent_message_chunk', text);
    }
    await until(() => model.transcript.seq === 4);
    expect(said(model)).toEqual(['axyz']);
  });

  it('saves a draft a moment after it was typed', async () => {
    const model = await open().create();
    const key = `jupyter-acp-bridge:draft:${SESSION}`;
    model.composer.text = 'half';
    model.composer.text = 'half a thought';
    expect(storage.getItem(key)).toBeNull();
    await until(() => storage.getItem(key) !== null);
    expect(storage.getItem(key)).toContain('half a thought');
    model.composer.text = '';
    await until(() => storage.getItem(key) === null);
  });

  it('opens the last session again after a reload', async () => {
    const before = open();
    const model = await before.create();
    model.composer.text = 'half a thought';
    server.text('user_message_chunk', 'hello');
    before.dispose();
    const after = open();
    await after.restore();
    await until(() => after.current?.transcript.seq === 1);
    expect(said(after.current!)).toEqual(['hello']);
    expect(after.current!.composer.text).toBe('half a thought');
  });

  describe('several at once', () => {
    it('opens each in a tab of its own and shows the last', async () => {
      const sessions = open();
      await sessions.open('s2');
      await sessions.open('s3');
      await sessions.open('s2');
      expect(sessions.tabs).toEqual(['s2', 's3']);
      expect(sessions.current?.id).toBe('s2');
    });

    it('opens a session by the id that it was wanted to have', async () => {
      listed.push({ id: 's4', agent: 'mine', alias: 'wanted' });
      const sessions = open();
      await until(() => sessions.list.isLoaded);
      const model = await sessions.open('wanted');
      expect(model.id).toBe('s4');
      expect(sessions.tabs).toEqual(['s4']);
      expect(await sessions.open('s4')).toBe(model);
    });

    it('shows the neighbour of a tab that is closed, which goes on', async () => {
      const sessions = open();
      await sessions.open('s2');
      await sessions.open('s3');
      sessions.close('s3');
      expect(sessions.tabs).toEqual(['s2']);
      expect(sessions.current?.id).toBe('s2');
      await server.waitFor(Method.detach);
      expect(server.requests(Method.detach)[0].params).toEqual({
        sessionId: 's3'
      });
      expect(server.requests('session/close')).toEqual([]);
    });

    it('keeps nothing of what still comes for a session that was left', async () => {
      const sessions = open();
      await sessions.open(SESSION);
      sessions.close(SESSION);
      server.text('agent_message_chunk', 'late');
      const model = await sessions.open(SESSION);
      await until(() => model.transcript.seq === 1);
      expect(said(model)).toEqual(['late']);
    });

    it('restores the tabs, and attaches to the one that is shown', async () => {
      const before = open();
      await before.open('s2');
      await before.open('s3');
      await before.open('s2');
      const attached = server.requests(Method.attach).length;
      const after = open();
      await after.restore();
      expect(after.tabs).toEqual(['s2', 's3']);
      expect(after.current?.id).toBe('s2');
      expect(server.requests(Method.attach)).toHaveLength(attached + 1);
    });

    it('restores the list where it was shown', async () => {
      const before = open();
      await before.open('s2');
      before.clear();
      const after = open();
      await after.restore();
      expect(after.tabs).toEqual(['s2']);
      expect(after.current).toBeNull();
      await after.connection.ready;
    });

    it('does not restore what is gone, or what makes no sense', async () => {
      storage.setItem(
        'jupyter-acp-bridge-panel:open-sessions',
        JSON.stringify({ tabs: ['s2', 7, 'gone'], current: {} })
      );
      const sessions = open();
      await sessions.restore();
      await until(() => sessions.list.isLoaded);
      expect(sessions.tabs).toEqual(['s2']);
      expect(sessions.current).toBeNull();
    });

    it('begins with an agent where the workspace says so, once', async () => {
      storage.setItem(
        'jupyter-acp-bridge-panel:open-sessions',
        JSON.stringify({ agent: 'mine' })
      );
      const before = open();
      await before.restore();
      expect(before.current?.info.agent).toBe('mine');
      const after = open();
      await after.restore();
      expect(after.current?.id).toBe(SESSION);
      expect(server.requests(Method.sessionNew)).toHaveLength(1);
    });

    it('connects by itself only if something was open', async () => {
      const fresh = load();
      fresh.resume();
      expect(fresh.connection.status).toBe('disconnected');
      await open().open('s2');
      const again = load();
      again.resume();
      await again.connection.ready;
    });

    it('has a session in one place at a time', async () => {
      const sessions = open();
      const model = await sessions.open('s2');
      await sessions.open('s3');
      sessions.setInMain('s2', true);
      expect(sessions.tabs).toEqual(['s3']);
      expect(model.isDisposed).toBe(false);
      expect(await sessions.open('s2')).toBe(model);
      sessions.setInMain('s2', false);
      expect(sessions.tabs).toEqual(['s3', 's2']);
      expect(model.isDisposed).toBe(false);
      sessions.setInMain('s2', true);
      sessions.setInMain('s2', false);
      expect(model.isDisposed).toBe(true);
    });

    it('closes what was deleted in another window', async () => {
      const sessions = open();
      await sessions.open('s2');
      const model = await sessions.open('s3');
      server.send({
        method: Method.sessionsRemoved,
        params: { sessionId: 's3' }
      });
      await until(() => sessions.tabs.length === 1);
      expect(sessions.current?.id).toBe('s2');
      expect(model.isDisposed).toBe(true);
    });

    it('forks a session where it is, and shows the fork', async () => {
      listed[1].cwd = '/root/work';
      server.answers[Method.sessionFork] = () => ({
        sessionId: 's9',
        _meta: {
          'jupyter-acp': { session: { id: 's9', agent: 'mine', title: 'Fork' } }
        }
      });
      const sessions = open();
      await until(() => sessions.list.isLoaded);
      const fork = await sessions.fork('s2');
      expect(server.requests(Method.sessionFork)[0].params).toEqual({
        sessionId: 's2',
        cwd: '/root/work'
      });
      expect(fork.info.agent).toBe('mine');
      expect(sessions.current).toBe(fork);
      expect(sessions.list.get('s9')?.title).toBe('Fork');
    });
  });

  it('reads a transcript page by page, without following it', async () => {
    const texts = ['a', 'b', 'c'];
    const messages = (_: string, after: number) =>
      Promise.resolve({
        seq: texts.length,
        messages: texts.slice(after, after + 2).map((text, index) => ({
          method: Method.sessionUpdate,
          params: {
            sessionId: 's2',
            update: {
              sessionUpdate: 'agent_message_chunk',
              content: { type: 'text', text }
            },
            _meta: { 'jupyter-acp': { seq: after + index + 1 } }
          }
        }))
      });
    Object.assign(api, { messages });
    const transcript = await load().archive.transcript('s2');
    expect(
      transcript.items.map(item => messageText(item as IMessageItem))
    ).toEqual(['abc']);
  });

  describe('prompts', () => {
    let model: SessionModel;

    beforeEach(async () => {
      model = await open().create();
    });

    it('shows an echo until the server has written it down', async () => {
      const done = model.prompt(words('hello'));
      expect(model.waiting.map(({ text }) => text)).toEqual(['hello']);
      const { id, params } = await server.waitFor(Method.sessionPrompt);
      server.text('user_message_chunk', 'hello', ourMeta(params));
      await until(() => model.waiting.length === 0);
      expect(model.isBusy).toBe(true);
      server.send({ id, result: { stopReason: 'end_turn' } });
      await done;
      expect(model.isBusy).toBe(false);
      expect(said(model)).toEqual(['hello']);
    });

    it('says that the agent is not to be told where the user is', async () => {
      void model.prompt(words('told'));
      model.composer.setCarried(EDITOR_CONTEXT, false);
      void model.prompt(words('untold'));
      const sent = () => server.requests(Method.sessionPrompt);
      await until(() => sent().length === 2);
      expect(sent().map(({ params }) => ourMeta(params))).toEqual([
        { promptId: expect.any(String) as string },
        { promptId: expect.any(String) as string, context: false }
      ]);
    });

    it('gives back what is stopped before it is on its way', async () => {
      const done = model.prompt(words('never mind'));
      model.cancel();
      await done;
      expect(server.requests(Method.sessionPrompt)).toEqual([]);
      expect(model.composer.text).toBe('never mind');
      expect(model.isBusy).toBe(false);
    });

    it('does not take the prompt of another window for its own', async () => {
      void model.prompt(words('mine'));
      await server.waitFor(Method.sessionPrompt);
      server.text('user_message_chunk', 'theirs', { promptId: 'p99' });
      await until(() => model.transcript.seq === 1);
      expect(model.waiting.map(({ text }) => text)).toEqual(['mine']);
    });

    it('takes all blocks of a prompt for one, and the next for the next', async () => {
      const file = { type: 'file', name: 'a', uri: 'file:///a' } as const;
      void model.prompt({ text: 'one', attachments: [file] });
      void model.prompt({ text: 'two', attachments: [file] });
      const [one, two] = model.waiting.map(({ id }) => ({ promptId: id }));
      server.text('user_message_chunk', 'one', one);
      server.text('user_message_chunk', 'file', one);
      await until(() => model.transcript.seq === 2);
      expect(model.waiting.map(({ text }) => text)).toEqual(['two']);
      server.text('user_message_chunk', 'two', two);
      await until(() => model.transcript.seq === 3);
      expect(model.waiting).toEqual([]);
    });

    it('gives the text back when it was refused', async () => {
      server.answers[Method.sessionPrompt] = () => {
        throw new Error('Log in first.');
      };
      await model.prompt(words('precious'));
      expect(model.composer.text).toBe('precious');
      expect(model.problem).toBe('Log in first.');
      expect(model.waiting).toEqual([]);
    });

    it('keeps what was typed meanwhile', async () => {
      server.answers[Method.sessionPrompt] = () => {
        throw new Error('no');
      };
      const done = model.prompt(words('first'));
      model.composer.text = 'second';
      await done;
      expect(model.composer.text).toBe('first\nsecond');
    });

    it('gives the text back when the socket took it away', async () => {
      void model.prompt(words('precious'));
      await server.waitFor(Method.sessionPrompt);
      server.drop();
      await until(() => model.composer.text === 'precious');
      expect(model.waiting).toEqual([]);
    });

    it('does not give back what arrived before the socket was lost', async () => {
      void model.prompt(words('once'));
      const { params } = await server.waitFor(Method.sessionPrompt);
      server.drop();
      server.text('user_message_chunk', 'once', ourMeta(params));
      await until(() => model.transcript.seq === 1);
      await new Promise(resolve => setTimeout(resolve, 1700));
      expect(model.composer.text).toBe('');
      expect(said(model)).toEqual(['once']);
    });
  });

  describe('queue', () => {
    it('gives back, in order, what was stopped before its turn', async () => {
      const model = await open().create();
      const all = ['running', 'second', 'third'].map(text =>
        model.prompt(words(text))
      );
      const sent = () => server.requests(Method.sessionPrompt);
      await until(() => sent().length === 3);
      const [first, ...queued] = sent();
      server.text('user_message_chunk', 'running', ourMeta(first.params));
      const promptIds = queued.map(({ params }) => ourMeta(params));
      server.send({
        method: Method.queue,
        params: { sessionId: SESSION, queued: promptIds }
      });
      model.composer.text = 'half a thought';
      server.send({
        method: Method.queue,
        params: { sessionId: SESSION, queued: [] }
      });
      for (const { id } of [first, ...queued]) {
        server.send({ id, result: { stopReason: 'cancelled' } });
      }
      await Promise.all(all);
      expect(model.waiting).toEqual([]);
      expect(model.composer.text).toBe('second\nthird\nhalf a thought');
    });

    it('knows after a reload what still waits, and gives back what does not', async () => {
      const kept = JSON.stringify({
        text: '',
        attachments: [],
        sent: ['written', 'queued', 'lost'].map(text => ({
          id: text,
          text,
          attachments: []
        }))
      });
      storage.setItem(`jupyter-acp-bridge:draft:${SESSION}`, kept);
      server.serveAttach(() => ({
        seq: 1,
        queued: [
          { promptId: 'queued', text: 'queued' },
          { promptId: 'theirs', text: 'of another window' }
        ]
      }));
      const model = await open().open(SESSION);
      server.text('user_message_chunk', 'written', { promptId: 'written' });
      await until(() => model.composer.text === 'lost');
      expect(model.waiting.map(({ text }) => text)).toEqual([
        'queued',
        'of another window'
      ]);
    });
  });

  describe('questions', () => {
    const question = {
      id: 'q1',
      method: Method.requestPermission,
      params: { sessionId: SESSION, toolCall: { toolCallId: 't' }, options: [] }
    };
    const outcome = { outcome: { outcome: 'selected', optionId: 'yes' } };
    let model: SessionModel;

    beforeEach(async () => {
      model = await open().create();
      server.send(question);
      await until(() => model.requests.length === 1);
    });

    it('answers under the id of the question and closes the card', async () => {
      model.requests[0].answer(outcome);
      expect(model.requests).toEqual([]);
      await until(() => server.received.some(each => each.id === 'q1'));
      expect(server.received.find(each => each.id === 'q1')).toMatchObject({
        result: outcome
      });
    });

    it('closes a card that was answered elsewhere, and says so', async () => {
      server.publish(Method.permissionResolved, {
        requestId: 'q1',
        outcome: outcome.outcome,
        request: { method: question.method, params: question.params }
      });
      await until(() => model.requests.length === 0);
      expect(model.transcript.items.map(item => item.kind)).toEqual(['answer']);
    });

    it('closes a card that was answered while the socket was lost', async () => {
      server.drop();
      await until(() => model.requests.length === 0);
    });

    it('can answer a card that is asked again after a reconnect', async () => {
      server.serveAttach(() => ({ pending: ['q1'] }));
      server.drop();
      await server.waitFor(Method.attach);
      server.send(question);
      await new Promise(resolve => setTimeout(resolve, 50));
      expect(model.requests).toHaveLength(1);
      model.requests[0].answer(outcome);
      await until(() => server.received.some(each => each.id === 'q1'));
    });
  });
});
