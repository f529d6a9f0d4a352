// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { decodeMessage } from '../../src/decode/messages';
import { decodeAnswer, decodeQuestion } from '../../src/decode/questions';
import { decodeSetup } from '../../src/decode/setup';
import { Method } from '../../src/protocol';
import { type IMessageItem, messageText } from '../../src/transcript/items';
import { Feed } from '../support/helpers';

const update = (update: unknown) =>
  decodeMessage(Method.sessionUpdate, { update });

const text = { type: 'text', text: 'a' };

describe('an update', () => {
  it('keeps its good parts', () => {
    const entry = { content: 'a', priority: 'high', status: 'completed' };
    expect(
      update({ sessionUpdate: 'plan', entries: [null, entry, { content: 1 }] })
    ).toEqual({
      event: { type: 'plan', entries: [entry] },
      dropped: [null, { content: 1 }]
    });
  });

  it('keeps its good parts at any depth', () => {
    const content = [
      null,
      { type: 'content', content: text },
      { type: 'content', content: null },
      { type: 'diff', path: '/a', newText: 'b', oldText: 7 },
      { type: 'constructor' }
    ];
    expect(
      update({
        sessionUpdate: 'tool_call',
        toolCallId: 't',
        title: 5,
        kind: 'teleport',
        status: 'lost',
        content,
        locations: [{ path: '/a', line: '3' }, { line: 1 }, 'x']
      })
    ).toEqual({
      event: {
        type: 'tool',
        update: {
          toolCallId: 't',
          kind: 'other',
          content: [content[1], { type: 'diff', path: '/a', newText: 'b' }],
          locations: [{ path: '/a' }],
          toolName: undefined
        }
      },
      dropped: [
        { title: 5 },
        { status: 'lost' },
        null,
        content[2],
        { oldText: 7 },
        content[4],
        { line: '3' },
        { line: 1 },
        'x'
      ]
    });
  });

  it.each([
    null,
    undefined,
    7,
    [],
    {},
    { sessionUpdate: null },
    { sessionUpdate: 'hologram' },
    { sessionUpdate: '__proto__' },
    { sessionUpdate: 'agent_message_chunk' },
    { sessionUpdate: 'agent_message_chunk', content: { type: 'text' } },
    { sessionUpdate: 'agent_message_chunk', content: { type: 'smell' } },
    { sessionUpdate: 'tool_call', title: 'a' },
    { sessionUpdate: 'tool_call', toolCallId: '' },
    { sessionUpdate: 'plan', entries: null },
    { sessionUpdate: 'plan' }
  ])('that cannot be read is dropped as a whole: %j', given => {
    const { event, dropped } = update(given);
    expect(event).toBeNull();
    expect(dropped.at(-1)).toEqual(given);
  });

  it('loses nothing of what agents leave out or leave empty', () => {
    for (const given of [
      { sessionUpdate: 'tool_call_update', toolCallId: 't', content: null },
      { sessionUpdate: 'plan', entries: [{ content: 'a' }] },
      { sessionUpdate: 'available_commands_update', availableCommands: [] },
      { sessionUpdate: 'usage_update', used: 0, size: 0 },
      { sessionUpdate: 'session_info_update', updatedAt: 'today' },
      { sessionUpdate: 'session_info_update', title: null }
    ]) {
      expect(update(given).dropped).toEqual([]);
    }
  });

  it('of a later server is ignored', () => {
    expect(decodeMessage('_jupyter/session/later', null)).toEqual({
      event: null,
      dropped: []
    });
  });
});

describe('what an agent offers', () => {
  it('is what can be read of it', () => {
    const dropped: unknown[] = [];
    const setup = decodeSetup(
      {
        sessionId: 's',
        modes: { currentModeId: 'a', availableModes: [null, { id: 'a' }] },
        models: { currentModelId: 'm' },
        configOptions: [
          {
            id: 'o',
            name: 'O',
            type: 'select',
            currentValue: 'x',
            options: [{ value: 'x', name: 'X' }, 3]
          }
        ]
      },
      part => dropped.push(part)
    );
    expect(setup).toEqual({
      modes: { currentModeId: 'a', availableModes: [] },
      configOptions: [
        {
          id: 'o',
          name: 'O',
          type: 'select',
          currentValue: 'x',
          options: [{ value: 'x', name: 'X' }]
        }
      ]
    });
    expect(dropped).toEqual([
      null,
      { id: 'a' },
      { models: { currentModelId: 'm' } },
      3
    ]);
  });
});

describe('a question', () => {
  it('keeps the options that can be chosen, also of new kinds', () => {
    const dropped: unknown[] = [];
    const option = { optionId: 'y', name: 'Yes', kind: 'allow_once' };
    const question = decodeQuestion(
      Method.requestPermission,
      {
        toolCall: { toolCallId: 't', title: 'Run', content: [null] },
        options: [null, option, { optionId: 'm', kind: 'maybe' }, { name: 'n' }]
      },
      part => dropped.push(part)
    );
    expect(question).toMatchObject({
      kind: 'permission',
      call: { toolCallId: 't', title: 'Run', content: [] },
      options: [option, { optionId: 'm', name: '', kind: 'maybe' }]
    });
    expect(dropped).toEqual([null, { name: 'n' }, null]);
  });

  it.each([null, 7, {}, { options: 'all', toolCall: [] }])(
    'that cannot be read grants nothing: %j',
    params => {
      const question = decodeQuestion(
        Method.requestPermission,
        params,
        () => undefined
      );
      expect(question).toMatchObject({ kind: 'permission', options: [] });
    }
  );

  it('makes a form of a schema, without the fields that are none', () => {
    const question = decodeQuestion(
      Method.elicit,
      {
        mode: 'dance',
        message: 'How many?',
        requestedSchema: {
          properties: {
            count: { type: 'integer', title: 'Count', minimum: 'one' },
            nothing: null
          },
          required: ['count', 3]
        }
      },
      () => undefined
    );
    expect(question).toEqual({
      kind: 'elicitation',
      mode: 'form',
      message: 'How many?',
      url: '',
      form: {
        properties: { count: { type: 'integer', title: 'Count' } },
        required: ['count']
      }
    });
  });

  it.each([
    [{ outcome: 'selected', optionId: 'y' }, { optionId: 'y' }],
    [{ outcome: { outcome: 'selected', optionId: 'y' } }, { optionId: 'y' }],
    [{ outcome: 'cancelled', optionId: 'y' }, {}],
    [{ action: 'accept' }, { action: 'accept' }],
    [null, {}],
    ['yes', {}]
  ])('has an answer in any envelope: %j', (answer, expected) => {
    expect(decodeAnswer(answer)).toEqual(expected);
  });
});

describe('a transcript', () => {
  it('has one row for what came together and could not be read', () => {
    const feed = new Feed();
    feed.text('agent_message_chunk', 'before');
    feed.update({ sessionUpdate: 'plan', entries: [null] });
    feed.update({ sessionUpdate: 'hologram' });
    feed.text('agent_message_chunk', 'after');
    expect(feed.transcript.items).toMatchObject([
      { kind: 'agent' },
      { kind: 'plan', entries: [] },
      { kind: 'dropped', parts: [null, { sessionUpdate: 'hologram' }] },
      { kind: 'agent' }
    ]);
  });

  it('goes on with a message in which something could not be read', () => {
    const feed = new Feed();
    feed.text('agent_message_chunk', '```\na');
    feed.update({ sessionUpdate: 'hologram' });
    feed.text('agent_message_chunk', 'b\n```');
    const [message, dropped, ...rest] = feed.transcript.items;
    expect(messageText(message as IMessageItem)).toBe('```\nab\n```');
    expect([dropped.kind, rest]).toEqual(['dropped', []]);
  });
});
