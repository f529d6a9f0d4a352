// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Method } from '../../src/protocol';
import type { IToolItem } from '../../src/tools/items';
import { type IMessageItem, messageText } from '../../src/transcript/items';
import { Feed, numbered } from '../support/helpers';

/** How the server begins what it tells an agent with a message. */
const WHOLE =
  'What the user has open in JupyterLab. It is information, not a request.';
const CHANGED =
  'What has changed in JupyterLab since the last message. It is information, not a request.';

function kinds(feed: Feed): string[] {
  return feed.transcript.items.map(item => item.kind);
}

function tool(feed: Feed, index = 0): IToolItem['call'] {
  const items = feed.transcript.items.filter(item => item.kind === 'tool');
  return items[index].call;
}

describe('Transcript', () => {
  it('knows the servers as they were told last, and shows none of it', () => {
    const { transcript } = new Feed();
    expect(transcript.facts.servers).toEqual([]);
    const servers = [{ name: 'issues', type: 'stdio', state: 'on' }];
    transcript.receive(Method.servers, numbered(1, { servers }));
    expect(transcript.facts.servers).toEqual(servers);
    transcript.receive(Method.servers, numbered(2, { servers: [] }));
    expect(transcript.facts.servers).toEqual([]);
    expect(transcript.items).toEqual([]);
  });

  describe('numbering', () => {
    const chunk = (seq: number, text: string) =>
      numbered(seq, {
        update: {
          sessionUpdate: 'agent_message_chunk',
          content: { type: 'text', text }
        }
      });

    it('ignores what it has seen and refuses what comes too early', () => {
      const { transcript } = new Feed();
      expect(transcript.receive(Method.sessionUpdate, chunk(1, 'a'))).toBe(
        'applied'
      );
      expect(transcript.receive(Method.sessionUpdate, chunk(1, 'a'))).toBe(
        'old'
      );
      expect(transcript.receive(Method.sessionUpdate, chunk(3, 'c'))).toBe(
        'gap'
      );
      expect(transcript.receive(Method.sessionUpdate, chunk(2, 'b'))).toBe(
        'applied'
      );
      expect(transcript.receive(Method.sessionUpdate, chunk(3, 'c'))).toBe(
        'applied'
      );
      expect(messageText(transcript.items[0] as IMessageItem)).toBe('abc');
      expect(transcript.seq).toBe(3);
    });

    it('gives the same transcript whatever was sent twice', () => {
      const messages = [...'every chunk once'].map((text, index) =>
        chunk(index + 1, text)
      );
      const { transcript } = new Feed();
      for (let start = 0; start < messages.length; start++) {
        for (const message of messages.slice(0, start + 1)) {
          transcript.receive(Method.sessionUpdate, message);
        }
      }
      expect(messageText(transcript.items[0] as IMessageItem)).toBe(
        'every chunk once'
      );
    });
  });

  describe('messages', () => {
    it('joins chunks of one message and begins another after a tool call', () => {
      const feed = new Feed();
      feed.prompt('hi');
      feed.text('agent_thought_chunk', 'hm');
      feed.text('agent_message_chunk', 'a');
      feed.text('agent_message_chunk', 'b');
      feed.update({ sessionUpdate: 'tool_call', toolCallId: 't', title: 'T' });
      feed.text('agent_message_chunk', 'c');
      expect(kinds(feed)).toEqual([
        'user',
        'thought',
        'agent',
        'tool',
        'agent'
      ]);
    });

    it('begins another at a new message id', () => {
      const feed = new Feed();
      feed.text('agent_message_chunk', 'a', { messageId: '1' });
      feed.text('agent_message_chunk', 'b', { messageId: '1' });
      feed.text('agent_message_chunk', 'c', { messageId: '2' });
      expect(kinds(feed)).toEqual(['agent', 'agent']);
    });

    it('keeps two prompts apart', () => {
      const feed = new Feed();
      feed.prompt('one');
      feed.state('running');
      feed.state('idle', { stopReason: 'end_turn' });
      feed.prompt('two');
      expect(kinds(feed)).toEqual(['user', 'user']);
    });

    it('keeps apart what the user said and what the agent says of that', () => {
      const feed = new Feed();
      const forged = { _meta: { 'jupyter-acp': { origin: 'w1' } } };
      feed.prompt('one');
      feed.text('user_message_chunk', 'two', forged);
      feed.text('user_message_chunk', ' three');
      feed.prompt('four');
      const items = feed.transcript.items as IMessageItem[];
      expect(
        items.map(item => [messageText(item), item.kind, item.isHearsay])
      ).toEqual([
        ['one', 'user', false],
        ['two three', 'user', true],
        ['four', 'user', false]
      ]);
      expect(feed.transcript.prompts).toEqual(['one', 'four']);
    });

    it('keeps apart what the agent was told with a message', () => {
      const feed = new Feed();
      const told = `${WHOLE}\n\nThe notebook a.ipynb is open.`;
      feed.prompt('why?');
      feed.send(Method.promptContext, {
        text: `<jupyter-context>\n${told}\n</jupyter-context>`,
        images: 0
      });
      const [item] = feed.transcript.items as IMessageItem[];
      expect(feed.transcript.items).toHaveLength(1);
      expect(messageText(item)).toBe('why?');
      expect(messageText({ ...item, parts: item.told })).toBe(told);
      expect(feed.transcript.prompts).toEqual(['why?']);
    });

    it.each([
      [WHOLE, 1],
      [CHANGED, 7],
      [WHOLE, 1000]
    ])(
      'finds it in what agents repeat: “%s”, in pieces of %d',
      (beginning, size) => {
        const feed = new Feed();
        const context = `${beginning}\n\nThe cell\nfailed`;
        const all = `why?\n\n<jupyter-context>\n${context}\n</jupyter-context>\nSay it.`;
        for (let at = 0; at < all.length; at += size) {
          feed.text('user_message_chunk', all.slice(at, at + size));
        }
        feed.text(
          'agent_message_chunk',
          `<jupyter-context>\n${beginning}\n\n</jupyter-context>`
        );
        const [said, answer] = feed.transcript.items as IMessageItem[];
        expect(messageText(said)).toMatch(/^why\?\n+Say it\.$/);
        expect(messageText({ ...said, parts: said.told })).toBe(context);
        expect(messageText(answer)).toContain('jupyter-context');
      }
    );

    it('leaves alone what users write about its delimiters', () => {
      const feed = new Feed();
      const words =
        'Why\n<jupyter-context>\nand not XML\n</jupyter-context>\nhere?';
      feed.prompt(words);
      feed.text('user_message_chunk', words);
      const items = feed.transcript.items as IMessageItem[];
      expect(items.map(item => [messageText(item), item.told])).toEqual([
        [words, []],
        [words, []]
      ]);
    });

    it('keeps images between texts', () => {
      const feed = new Feed();
      feed.text('agent_message_chunk', 'before');
      feed.update({
        sessionUpdate: 'agent_message_chunk',
        content: { type: 'image', mimeType: 'image/png', data: '' }
      });
      feed.text('agent_message_chunk', 'after');
      const item = feed.transcript.items[0] as IMessageItem;
      expect(item.parts.map(part => part.type)).toEqual([
        'text',
        'block',
        'text'
      ]);
    });

    it('appends in linear time', () => {
      const feed = new Feed();
      for (let count = 0; count < 400_000; count++) {
        feed.transcript.receive(
          Method.sessionUpdate,
          numbered(count + 1, {
            update: {
              sessionUpdate: 'agent_message_chunk',
              content: { type: 'text', text: 'word ' }
            }
          })
        );
      }
      expect(feed.transcript.items).toHaveLength(1);
    });

    it('tells by revision which item changed', () => {
      const feed = new Feed();
      feed.prompt('hi');
      feed.text('agent_message_chunk', 'a');
      const before = feed.transcript.items.map(item => item.revision);
      feed.text('agent_message_chunk', 'b');
      const after = feed.transcript.items.map(item => item.revision);
      expect(after[0]).toBe(before[0]);
      expect(after[1]).toBeGreaterThan(before[1]);
    });
  });

  describe('tool calls', () => {
    it('merges updates and never blanks what was there', () => {
      const feed = new Feed();
      feed.update({
        sessionUpdate: 'tool_call',
        toolCallId: 't',
        title: 'Read',
        kind: 'read',
        status: 'pending',
        locations: [{ path: '/a' }],
        rawInput: { path: '/a' }
      });
      feed.update({
        sessionUpdate: 'tool_call_update',
        toolCallId: 't',
        title: '',
        status: 'completed',
        kind: null
      });
      expect(tool(feed)).toMatchObject({
        title: 'Read',
        kind: 'read',
        status: 'completed',
        locations: [{ path: '/a' }],
        rawInput: { path: '/a' }
      });
    });

    it('shows a call that was never announced', () => {
      const feed = new Feed();
      feed.update({
        sessionUpdate: 'tool_call_update',
        toolCallId: 't',
        title: 'Late'
      });
      expect(tool(feed).title).toBe('Late');
    });

    it('closes calls that stay open when the turn ends', () => {
      const feed = new Feed();
      feed.state('running');
      feed.update({
        sessionUpdate: 'tool_call',
        toolCallId: 't',
        title: 'T',
        status: 'in_progress'
      });
      feed.state('idle', { stopReason: 'cancelled' });
      expect(tool(feed).status).toBe('ended');
      expect(kinds(feed)).toEqual(['tool', 'stop']);
    });

    it('shows what a terminal prints, before and after it is announced', () => {
      const feed = new Feed();
      feed.send(Method.terminalOutput, { terminalId: 'x', data: 'a' });
      feed.update({
        sessionUpdate: 'tool_call',
        toolCallId: 't',
        title: 'Run',
        content: [{ type: 'terminal', terminalId: 'x' }]
      });
      const before = feed.transcript.items[0].revision;
      feed.send(Method.terminalOutput, { terminalId: 'x', data: 'b' });
      feed.send(Method.terminalExit, {
        terminalId: 'x',
        exitStatus: { exitCode: 2, signal: null }
      });
      expect(tool(feed).terminals.x.output.text).toBe('ab');
      expect(tool(feed).terminals.x.exit).toMatchObject({ exitCode: 2 });
      expect(feed.transcript.items[0].revision).toBeGreaterThan(before);
    });

    it('names a terminal as long as it can be opened', () => {
      const feed = new Feed();
      const create = (terminalId: string, name: string | null) => {
        feed.send(Method.terminalCreated, {
          terminalId,
          command: 'make',
          cwd: '/',
          name
        });
        feed.update({
          sessionUpdate: 'tool_call',
          toolCallId: terminalId,
          content: [{ type: 'terminal', terminalId }]
        });
      };
      create('x', 'agent_1');
      expect(tool(feed).terminals.x.name).toBe('agent_1');
      const before = feed.transcript.items[0].revision;
      feed.send(Method.terminalExit, { terminalId: 'x', exitStatus: {} });
      expect(tool(feed).terminals.x.name).toBeUndefined();
      expect(feed.transcript.items[0].revision).toBeGreaterThan(before);
      create('y', null);
      expect(tool(feed, 1).terminals.y.name).toBeUndefined();
      create('z', 'agent_2');
      feed.state('idle', { stopReason: 'end_turn' });
      expect(tool(feed, 2).terminals.z.name).toBe('agent_2');
      feed.send(Method.restored, { how: 'load', message: '' });
      expect(tool(feed, 2).terminals.z.name).toBeUndefined();
    });

    it.each(['disconnected', 'closed'])('opens none once %s', state => {
      const feed = new Feed();
      feed.send(Method.terminalCreated, { terminalId: 'x', name: 'agent_1' });
      feed.update({
        sessionUpdate: 'tool_call',
        toolCallId: 't',
        content: [{ type: 'terminal', terminalId: 'x' }]
      });
      feed.state(state);
      expect(tool(feed).terminals.x.name).toBeUndefined();
    });

    it('shows what agents stream in _meta', () => {
      const feed = new Feed();
      for (const data of ['one\n', 'two\n']) {
        feed.update({
          sessionUpdate: 'tool_call_update',
          toolCallId: 't',
          _meta: { terminal_output: { terminal_id: 'x', data } }
        });
      }
      expect(tool(feed).terminals.x.output.text).toBe('one\ntwo\n');
    });
  });

  it('replaces the plan of a turn and begins another in the next', () => {
    const feed = new Feed();
    const plan = (content: string) =>
      feed.update({ sessionUpdate: 'plan', entries: [{ content }] });
    feed.prompt('1');
    plan('a');
    plan('b');
    feed.state('idle', { stopReason: 'end_turn' });
    feed.prompt('2');
    plan('c');
    expect(kinds(feed)).toEqual(['user', 'plan', 'user', 'plan']);
  });

  it('keeps an error until the session works again', () => {
    const feed = new Feed();
    feed.state('disconnected', { error: { message: 'died', stderr: ['x'] } });
    expect(feed.transcript.error?.message).toBe('died');
    feed.state('running');
    expect(feed.transcript.error).toBeNull();
    expect(kinds(feed)).toEqual(['error']);
  });

  it('shows updates of unknown kinds in one row, and ignores methods of later servers', () => {
    const feed = new Feed();
    const hologram = { sessionUpdate: 'hologram', data: 1 };
    feed.update(hologram);
    feed.update(hologram);
    feed.send('_jupyter/something/new', {});
    expect(feed.transcript.seq).toBe(3);
    expect(feed.transcript.items).toMatchObject([
      { kind: 'dropped', parts: [hologram, hologram] }
    ]);
  });

  it('follows the mode, the options, the commands and the title', () => {
    const feed = new Feed();
    const { transcript } = feed;
    transcript.facts.setUp({
      modes: { currentModeId: 'ask', availableModes: [] },
      availableCommands: [{ name: 'a', description: '' }]
    });
    feed.update({ sessionUpdate: 'current_mode_update', currentModeId: 'do' });
    feed.update({ sessionUpdate: 'session_info_update', title: 'Tests' });
    feed.update({ sessionUpdate: 'config_option_update', configOptions: [] });
    feed.update({
      sessionUpdate: 'available_commands_update',
      availableCommands: [{ name: 'b' }]
    });
    expect(transcript.facts.modes?.currentModeId).toBe('do');
    expect(transcript.facts.title).toBe('Tests');
    expect(transcript.facts.commands).toEqual([{ name: 'b', description: '' }]);
  });

  it('follows the model of agents that know no option for it', () => {
    const feed = new Feed();
    feed.send(Method.modelChanged, { modelId: 'too early' });
    expect(feed.transcript.facts.models).toBeUndefined();
    feed.transcript.facts.setUp({
      models: {
        currentModelId: 'small',
        availableModels: [{ modelId: 'small', name: 'Small' }]
      }
    });
    feed.send(Method.modelChanged, { modelId: 'large' });
    expect(feed.transcript.facts.models).toMatchObject({
      currentModelId: 'large',
      availableModels: [{ modelId: 'small' }]
    });
  });

  describe('usage', () => {
    const used = (extra: object) => {
      const feed = new Feed();
      feed.update({ sessionUpdate: 'usage_update', ...extra });
      return feed;
    };

    it('is the last that was told, the costs those that were told last', () => {
      const cost = { amount: 0.5, currency: 'USD' };
      const feed = used({ used: 1, size: 10, cost });
      feed.update({ sessionUpdate: 'usage_update', used: 5, size: 10 });
      expect(feed.transcript.facts.usage).toEqual({ used: 5, size: 10, cost });
      expect(feed.transcript.items).toHaveLength(0);
    });

    it('may count something else', () => {
      const _meta = { 'jupyter-acp': { unit: 'characters' } };
      const { transcript } = used({ used: 1, size: 10, _meta });
      expect(transcript.facts.usage?.unit).toBe('characters');
    });

    it.each([
      {},
      { used: 1 },
      { used: -1, size: 10 },
      { used: 1, size: 0 },
      { used: '1', size: 10 },
      { used: 1, size: NaN }
    ])('is not known from %j', extra => {
      expect(used(extra).transcript.facts.usage).toBeNull();
    });

    it.each([{}, { amount: 1 }, { amount: 'x', currency: 'USD' }, null, 7])(
      'has no costs if they are %j',
      cost => {
        const { transcript } = used({ used: 1, size: 10, cost });
        expect(transcript.facts.usage).toEqual({ used: 1, size: 10 });
      }
    );
  });

  describe('notices', () => {
    it.each([
      [
        { severity: 'warning', title: 'Hot', description: 'Open a window' },
        { level: 'warning', text: 'Hot', detail: 'Open a window' }
      ],
      [
        { severity: 'error', title: 'Cold' },
        { level: 'error', text: 'Cold', detail: '' }
      ],
      [
        { severity: 'odd', title: 'x' },
        { level: 'info', text: 'x' }
      ],
      [
        { level: 'error', message: 'y' },
        { level: 'error', text: 'y' }
      ],
      [
        { content: { type: 'text', text: 'z' } },
        { level: 'info', text: 'z', detail: '' }
      ]
    ])('%j', (notice, expected) => {
      const feed = new Feed();
      feed.update({ sessionUpdate: 'notice', ...notice });
      expect(feed.transcript.items).toMatchObject([expected]);
    });
  });

  describe('compaction', () => {
    const update = (feed: Feed, extra: object) =>
      feed.update({
        sessionUpdate: 'compaction_update',
        compactionId: 'c',
        ...extra
      });
    const summary = (feed: Feed) => {
      const [item] = feed.transcript.items.filter(
        each => each.kind === 'compaction'
      );
      return item.summary.map(part =>
        part.type === 'text' ? part.blocks.text : part.type
      );
    };

    it('is one item from its start to its end', () => {
      const feed = new Feed();
      feed.text('agent_message_chunk', 'a');
      update(feed, { status: 'in_progress' });
      feed.text('agent_message_chunk', 'b');
      const before = feed.transcript.items[1].revision;
      update(feed, {
        status: 'completed',
        summary: [{ type: 'text', text: 'It was about tea.' }]
      });
      expect(kinds(feed)).toEqual(['agent', 'compaction', 'agent']);
      expect(feed.transcript.items[1]).toMatchObject({ status: 'completed' });
      expect(feed.transcript.items[1].revision).toBeGreaterThan(before);
      expect(summary(feed)).toEqual(['It was about tea.']);
    });

    it('may tell its summary bit by bit, and take it back', () => {
      const feed = new Feed();
      for (const text of ['one ', 'two']) {
        feed.text('compaction_summary_chunk', text, { compactionId: 'c' });
      }
      update(feed, { status: 'completed' });
      expect(summary(feed)).toEqual(['one two']);
      update(feed, { status: 'failed', summary: null, error: 'no room' });
      expect(summary(feed)).toEqual([]);
      expect(feed.transcript.items).toMatchObject([
        { status: 'failed', error: 'no room' }
      ]);
    });

    it('does not go on without its agent', () => {
      const feed = new Feed();
      update(feed, { status: 'in_progress' });
      feed.state('idle');
      expect(feed.transcript.items[0]).toMatchObject({ status: 'in_progress' });
      feed.state('disconnected');
      expect(feed.transcript.items[0]).toMatchObject({ status: 'cancelled' });
    });
  });

  it('tells what a rule refused, and leaves the rest to other lines', () => {
    const feed = new Feed();
    const decided = { kind: 'terminal', subject: 'rm x' };
    feed.send(Method.permissionDecided, {
      ...decided,
      decision: 'deny',
      by: 'admin'
    });
    feed.send(Method.permissionDecided, {
      ...decided,
      decision: 'deny',
      by: 'user'
    });
    feed.send(Method.permissionDecided, {
      ...decided,
      decision: 'allow',
      by: 'admin'
    });
    expect(feed.transcript.items).toMatchObject([
      { kind: 'refusal', by: 'admin', subject: 'rm x' }
    ]);
  });
});
