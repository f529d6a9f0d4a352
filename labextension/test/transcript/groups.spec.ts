// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Method } from '../../src/protocol';
import { type Row, toRows } from '../../src/transcript/groups';
import { Feed } from '../support/helpers';

const NONE = new Set<string>();

class Calls extends Feed {
  call(extra: object = {}): string {
    const toolCallId = `t${this.transcript.items.length}`;
    this.update({
      sessionUpdate: 'tool_call',
      toolCallId,
      title: toolCallId,
      kind: 'read',
      status: 'completed',
      ...extra
    });
    return toolCallId;
  }

  calls(count: number): string[] {
    return Array.from({ length: count }, () => this.call());
  }

  rows(asked: ReadonlySet<string> = NONE): Row[] {
    return toRows(this.transcript.items, asked);
  }

  /** A letter for each row, and how many items a group has. */
  shape(asked: ReadonlySet<string> = NONE): string {
    return this.rows(asked)
      .map(row => (row.kind === 'group' ? row.items.length : row.kind[0]))
      .join('');
  }
}

describe('toRows', () => {
  it('folds four calls, and no fewer', () => {
    const feed = new Calls();
    feed.calls(3);
    expect(feed.shape()).toBe('ttt');
    feed.call();
    expect(feed.shape()).toBe('4');
  });

  it('begins anew after whatever is said', () => {
    const feed = new Calls();
    feed.prompt('hi');
    feed.calls(5);
    feed.text('agent_message_chunk', 'so');
    feed.calls(3);
    feed.update({ sessionUpdate: 'notice', severity: 'info', title: 'x' });
    feed.calls(4);
    expect(feed.shape()).toBe('u5atttn4');
  });

  it('folds what is thought between calls, not before and after them', () => {
    const feed = new Calls();
    const think = () => feed.text('agent_thought_chunk', 'hm');
    think();
    feed.calls(2);
    think();
    feed.calls(2);
    think();
    expect(feed.shape()).toBe('t5t');
    feed.call();
    expect(feed.shape()).toBe('t7');
  });

  it.each([
    ['runs', { status: 'in_progress' }],
    ['waits', { status: 'pending' }],
    ['failed', { status: 'failed' }],
    [
      'changed a file',
      { content: [{ type: 'diff', path: '/a', newText: 'x' }] }
    ]
  ])('shows a call that %s', (_, extra) => {
    const feed = new Calls();
    feed.calls(4);
    feed.call(extra);
    feed.calls(4);
    expect(feed.shape()).toBe('4t4');
  });

  it('shows a call that is asked about', () => {
    const feed = new Calls();
    const [first] = feed.calls(5);
    expect(feed.shape(new Set([first]))).toBe('t4');
  });

  it.each([
    ['runs', undefined, 't4'],
    ['failed', { exitCode: 1 }, 't4'],
    ['was killed', { exitCode: null, signal: 'SIGTERM' }, 't4'],
    ['went well', { exitCode: 0, signal: null }, '5']
  ])('looks at a command that %s', (_, exitStatus, shape) => {
    const feed = new Calls();
    feed.send(Method.terminalCreated, { terminalId: 'x', name: 'agent_1' });
    feed.call({ content: [{ type: 'terminal', terminalId: 'x' }] });
    if (exitStatus) {
      feed.send(Method.terminalExit, { terminalId: 'x', exitStatus });
    }
    feed.calls(4);
    expect(feed.shape()).toBe(shape);
  });

  it('has no row for a change that a tool call tells of', () => {
    const feed = new Calls();
    const change = { path: '/a', oldText: 'x', newText: 'y' };
    feed.state('running');
    feed.calls(2);
    feed.send(Method.fileChanged, change);
    feed.calls(2);
    expect(feed.shape()).toBe('ttctt');
    feed.call({ content: [{ type: 'diff', ...change }] });
    expect(feed.shape()).toBe('4t');
  });

  it('keeps the key of a group and tells its changes by its revision', () => {
    const feed = new Calls();
    feed.prompt('hi');
    const [first] = feed.calls(4);
    const [, before] = feed.rows();
    const [, same] = feed.rows();
    expect(same).toEqual(before);
    feed.update({
      sessionUpdate: 'tool_call_update',
      toolCallId: first,
      title: 'new'
    });
    const [, changed] = feed.rows();
    feed.call();
    const [, grown] = feed.rows();
    expect([changed.key, grown.key]).toEqual([before.key, before.key]);
    expect(changed.revision).toBeGreaterThan(before.revision);
    expect(grown.revision).toBeGreaterThan(changed.revision);
  });

  it('gives each row a key of its own, and loses and moves nothing', () => {
    const feed = new Calls();
    for (let turn = 0; turn < 20; turn++) {
      feed.text('user_message_chunk', 'hi', { messageId: String(turn) });
      feed.calls(turn);
      feed.text('agent_thought_chunk', 'hm');
      feed.call({ status: turn % 3 ? 'completed' : 'failed' });
    }
    const rows = feed.rows();
    expect(new Set(rows.map(row => row.key)).size).toBe(rows.length);
    const items = rows.flatMap(row =>
      row.kind === 'group' ? [...row.items] : [row]
    );
    expect(items).toEqual(feed.transcript.items);
  });
});
