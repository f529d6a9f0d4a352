// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

// A client on the npm `@agentclientprotocol/sdk` that has never heard of us.
//
//   node sdk_client.mjs SCENARIO URL FOLDER    with the value of `Authorization` in AUTHORIZATION
//
// It plays one scenario against the socket and prints what it saw, as JSON; the test judges.

import { client, methods } from '@agentclientprotocol/sdk';
import { createWebSocketStream } from '@agentclientprotocol/sdk/experimental/ws-client';
import { WebSocket } from 'ws';

const [scenario, url, cwd] = process.argv.slice(2);

const text = steps => JSON.stringify(steps);

class Stock {
  // Everything the socket brought, in its order, before the SDK makes anything of it.
  wire = [];
  updates = [];
  questions = [];
  choose = () => ({ outcome: 'cancelled' });

  constructor() {
    const socket = createWebSocketStream(url, {
      WebSocket,
      headers: { Authorization: process.env.AUTHORIZATION }
    });
    const tap = new TransformStream({
      transform: (message, controller) => {
        this.wire.push(message);
        controller.enqueue(message);
      }
    });
    const connection = client({ name: 'stock' })
      .onNotification(methods.client.session.update, ({ params }) => {
        // The title that every session gets is not what is tried here.
        if (params.update.sessionUpdate !== 'session_info_update') {
          this.updates.push(params.update);
        }
      })
      .onRequest(methods.client.session.requestPermission, async ({ params }) => {
        this.questions.push(params);
        return { outcome: await this.choose(params) };
      })
      .connect({ readable: socket.readable.pipeThrough(tap), writable: socket.writable });
    this.agent = connection.agent;
    this.close = () => connection.close();
  }

  initialize() {
    return this.agent.request(methods.agent.initialize, {
      protocolVersion: 1,
      clientCapabilities: {}
    });
  }

  prompt(sessionId, ...steps) {
    const prompt = [{ type: 'text', text: text(steps) }];
    return this.agent.request(methods.agent.session.prompt, { sessionId, prompt });
  }

  seen() {
    return { wire: this.wire, updates: this.updates, questions: this.questions };
  }
}

async function connect() {
  const stock = new Stock();
  stock.initialized = await stock.initialize();
  return stock;
}

const start = (stock, folder = cwd) =>
  stock.agent.request(methods.agent.session.new, { cwd: folder, mcpServers: [] });

async function until(isTrue) {
  const end = Date.now() + 20000;
  while (!isTrue()) {
    if (Date.now() > end) {
      throw new Error(`waited too long for ${isTrue}`);
    }
    await new Promise(resolve => setTimeout(resolve, 10));
  }
}

async function code(promise) {
  try {
    await promise;
    return null;
  } catch (error) {
    return { code: error.code, message: error.message };
  }
}

const scenarios = {
  async prompt(stock) {
    // The SDK's own way of reading a turn: updates from a queue until the stop.
    const session = await stock.agent.buildSession(cwd).start();
    const before = stock.wire.length;
    void session.prompt(text([['flood', 500, 20]]));
    const messages = [];
    do {
      messages.push(await session.nextUpdate());
    } while (messages.at(-1).kind !== 'stop');
    return {
      initialized: stock.initialized,
      created: session.newSessionResponse,
      read: messages,
      turn: stock.wire.slice(before)
    };
  },

  async unadvertised(stock) {
    const { sessionId } = await start(stock);
    const before = stock.wire.length;
    const schema = { type: 'object', properties: {} };
    const form = { mode: 'form', message: '?', requestedSchema: schema };
    const kinds = ['notice', 'compaction_update', 'compaction_summary_chunk', 'plan_update'];
    const turn = stock.prompt(
      sessionId,
      ...kinds.map(kind => ['update', { sessionUpdate: kind, compactionId: 'c' }]),
      ['notify', '_sandboxagent/session/metadata_update', { metadata: { title: 'Named' } }],
      ['chunk', 'asking'],
      ['request', 'elicitation/create', form]
    );
    await until(() => stock.updates.length);
    await stock.agent.notify(methods.agent.session.cancel, { sessionId });
    const response = await turn;
    return { response, came: stock.wire.slice(before), updates: stock.updates };
  },

  async permission(stock) {
    const { sessionId } = await start(stock);
    stock.choose = ({ options }) => ({
      outcome: 'selected',
      optionId: options.find(option => option.kind === 'allow_once').optionId
    });
    const response = await stock.prompt(sessionId, ['ask']);
    return { sessionId, response, ...stock.seen() };
  },

  async cancel(stock) {
    const { sessionId } = await start(stock);
    const turn = stock.prompt(sessionId, ['chunk', 'go'], ['until_cancel']);
    await until(() => stock.updates.length);
    await stock.agent.notify(methods.agent.session.cancel, { sessionId });
    const response = await turn;
    const next = await stock.prompt(sessionId, ['chunk', 'on']);
    return { response, next, ...stock.seen() };
  },

  async cancel_permission(stock) {
    const { sessionId } = await start(stock);
    let decide;
    stock.choose = () => new Promise(resolve => (decide = resolve));
    const turn = stock.prompt(sessionId, ['ask']);
    await until(() => decide);
    await stock.agent.notify(methods.agent.session.cancel, { sessionId });
    const response = await turn;
    // Too late, as a person may be: it must neither count nor break anything.
    decide({ outcome: 'selected', optionId: 'yes' });
    const next = await stock.prompt(sessionId, ['chunk', 'on']);
    return { response, next, ...stock.seen() };
  },

  async load(stock) {
    const { sessionId } = await start(stock);
    await stock.prompt(sessionId, ['flood', 50, 10]);
    const other = await connect();
    const before = other.wire.length;
    const loaded = await other.agent.request(methods.agent.session.load, {
      sessionId,
      cwd,
      mcpServers: []
    });
    const replay = other.wire.slice(before);
    await until(() => other.updates.length === 51);
    await stock.prompt(sessionId, ['chunk', 'to both']);
    await until(() => other.updates.length === 53);
    other.close();
    return { live: stock.updates, loaded, replay, updates: other.updates };
  },

  async list(stock) {
    const { sessionId } = await start(stock);
    await stock.prompt(sessionId, ['chunk', 'hello']);
    const elsewhere = await start(stock, `${cwd}/other`);
    const list = params => stock.agent.request(methods.agent.session.list, params);
    return { sessionId, elsewhere, all: await list({}), here: await list({ cwd }) };
  },

  async lifecycle(stock) {
    const { sessionId } = await start(stock);
    const request = (method, params) => stock.agent.request(method, { sessionId, ...params });
    const { session } = methods.agent;
    await request(session.setMode, { modeId: 'b' });
    const resumed = await request(session.resume, { cwd, mcpServers: [] });
    const closed = await request(session.close);
    const deleted = await request(session.delete);
    const { sessions } = await stock.agent.request(session.list, {});
    return { resumed, closed, deleted, left: sessions.length, updates: stock.updates };
  },

  async errors(stock) {
    const { sessionId } = await start(stock);
    return {
      missing: await code(stock.prompt('nobody', ['chunk', 'x'])),
      relative: await code(start(stock, 'not/absolute')),
      failed: await code(stock.prompt(sessionId, ['fail', -32000, 'out of quota'])),
      unknown: await code(stock.agent.request('craft/nothing', {}))
    };
  }
};

const stock = await connect();
const result = await scenarios[scenario](stock);
stock.close();
process.stdout.write(JSON.stringify(result));
