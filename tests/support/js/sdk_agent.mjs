// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

// An agent on the npm `@agentclientprotocol/sdk`; `agents/sdk_agent.py` is its twin on the PyPI one.
//
// The prompt's text is a JSON list of steps, as for the scripted agent; `steps` has their names.

import { Readable, Writable } from 'node:stream';

import { agent, methods, ndJsonStream } from '@agentclientprotocol/sdk';

const options = [
  { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
  { optionId: 'no', name: 'Reject', kind: 'reject_once' }
];
const cancels = new Map();

function remember(sessionId) {
  const cancelled = new AbortController();
  cancels.set(sessionId, cancelled);
  return cancelled.signal;
}

function say(client, sessionId, text) {
  const content = { type: 'text', text };
  const update = { sessionUpdate: 'agent_message_chunk', content };
  return client.notify(methods.client.session.update, { sessionId, update });
}

const steps = {
  async stream(client, sessionId, signal, count) {
    for (let number = 0; number < count; number++) {
      await say(client, sessionId, `chunk ${number}`);
    }
  },
  async ask(client, sessionId) {
    const toolCallId = 'call-1';
    const update = { sessionUpdate: 'tool_call', toolCallId, title: 'Do it' };
    await client.notify(methods.client.session.update, { sessionId, update });
    const { outcome } = await client.request(methods.client.session.requestPermission, {
      sessionId,
      toolCall: { toolCallId },
      options
    });
    await say(client, sessionId, outcome.optionId ?? outcome.outcome);
  },
  async write(client, sessionId, signal, path, content) {
    await client.request(methods.client.fs.writeTextFile, { sessionId, path, content });
    const back = await client.request(methods.client.fs.readTextFile, { sessionId, path });
    await say(client, sessionId, `read back ${back.content}`);
  },
  async run(client, sessionId, signal, command, ...args) {
    const terminal = await client.createTerminal({ sessionId, command, args });
    const { exitCode } = await terminal.waitForExit();
    const { output } = await terminal.currentOutput();
    await terminal.release();
    await say(client, sessionId, `exit ${exitCode}: ${output}`);
  },
  async until_cancel(client, sessionId, signal) {
    await say(client, sessionId, 'waiting');
    if (!signal.aborted) {
      await new Promise(resolve => signal.addEventListener('abort', resolve));
    }
  }
};

agent({ name: 'sdk-typescript' })
  .onRequest(methods.agent.initialize, ({ params }) => ({
    protocolVersion: params.protocolVersion,
    agentCapabilities: { loadSession: true },
    agentInfo: { name: 'sdk-typescript', version: '1' }
  }))
  .onRequest(methods.agent.session.new, () => {
    const sessionId = `same-${cancels.size + 1}`;
    remember(sessionId);
    return { sessionId };
  })
  .onRequest(methods.agent.session.load, async ({ params, client }) => {
    remember(params.sessionId);
    await say(client, params.sessionId, 'chunk 0');
    return {};
  })
  .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
    const signal = remember(params.sessionId);
    for (const [name, ...args] of JSON.parse(params.prompt[0].text)) {
      await steps[name](client, params.sessionId, signal, ...args);
    }
    return { stopReason: signal.aborted ? 'cancelled' : 'end_turn' };
  })
  .onNotification(methods.agent.session.cancel, ({ params }) => {
    cancels.get(params.sessionId)?.abort();
  })
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
