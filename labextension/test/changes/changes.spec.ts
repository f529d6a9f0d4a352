// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Changes, TurnChanges } from '../../src/changes/changes';
import type { IChangeItem, ISummaryItem } from '../../src/changes/items';
import { Method } from '../../src/protocol';
import { newToolCall } from '../../src/tools/call';
import { Feed } from '../support/helpers';

const wrote = (feed: Feed, path: string, newText = 'b\n'): void =>
  feed.send(Method.fileChanged, { path, oldText: 'a\n', newText });

const tool = (feed: Feed, path: string, status: string): void =>
  feed.update({
    sessionUpdate: 'tool_call',
    toolCallId: `t-${path}`,
    status,
    content: [{ type: 'diff', path, oldText: 'a\n', newText: 'b\n' }]
  });

function turn(feed: Feed, work: () => void): void {
  feed.state('running');
  work();
  feed.state('idle', { stopReason: 'end_turn' });
}

const noted = (feed: Feed): IChangeItem[] =>
  feed.transcript.items.filter(item => item.kind === 'change');

const summaries = (feed: Feed): ISummaryItem[] =>
  feed.transcript.items.filter(item => item.kind === 'summary');

describe('changes in a transcript', () => {
  it('are told once, whoever tells first', () => {
    for (const order of [
      [wrote, tool],
      [tool, wrote]
    ]) {
      const feed = new Feed();
      turn(feed, () => order.forEach(tell => tell(feed, '/a', 'completed')));
      expect(noted(feed)[0].isCovered).toBe(true);
      expect(summaries(feed)[0].changes.map(({ key }) => key)).toEqual([
        't-/a:0'
      ]);
    }
  });

  it('are those of the server where a tool call failed or is of before', () => {
    const feed = new Feed();
    turn(feed, () => tool(feed, '/a', 'completed'));
    turn(feed, () => {
      wrote(feed, '/a');
      tool(feed, '/b', 'in_progress');
      wrote(feed, '/b');
      const { revision } = noted(feed)[1];
      tool(feed, '/b', 'failed');
      expect(noted(feed)[1].revision).toBeGreaterThan(revision);
    });
    expect(noted(feed).map(item => item.isCovered)).toEqual([false, false]);
    expect(summaries(feed)[1].changes.map(({ path }) => path)).toEqual([
      '/a',
      '/b'
    ]);
  });

  it('need no summary where there are none, and no text where it is long', () => {
    const feed = new Feed();
    turn(feed, () => tool(feed, '/a', 'failed'));
    turn(feed, () => feed.send(Method.fileChanged, { path: '/long' }));
    expect(summaries(feed)).toEqual([]);
    expect(noted(feed)).toEqual([]);
  });

  it('are shown anew wherever they are when something is decided', () => {
    const feed = new Feed();
    turn(feed, () => wrote(feed, '/a'));
    const [item] = noted(feed);
    const [summary] = summaries(feed);
    const before = [item.revision, summary.revision];
    feed.send(Method.changeDecided, {
      change: item.change.key,
      parts: ['0'],
      decision: 'undo'
    });
    expect(item.change.verdicts.get('0')).toBe('undone');
    expect(item.revision).toBeGreaterThan(before[0]);
    expect(summary.revision).toBeGreaterThan(before[1]);
  });

  it('come to light where a call was left alone at the end of its turn', () => {
    const feed = new Feed();
    feed.state('running');
    tool(feed, '/a', 'in_progress');
    wrote(feed, '/a');
    expect(noted(feed)[0].isCovered).toBe(true);
    feed.state('idle', { stopReason: 'cancelled' });
    expect(noted(feed)[0].isCovered).toBe(false);
    expect(summaries(feed)[0].changes.map(({ path }) => path)).toEqual(['/a']);
  });

  it('are those of the server where the agent says that a file was new', () => {
    for (const isToldFirst of [true, false]) {
      const feed = new Feed();
      const told = (): void =>
        feed.update({
          sessionUpdate: 'tool_call',
          toolCallId: 't',
          status: 'completed',
          content: [{ type: 'diff', path: '/a', newText: 'b\n' }]
        });
      turn(feed, () => {
        if (isToldFirst) {
          told();
        }
        wrote(feed, '/a');
        told();
      });
      const [{ changes }] = summaries(feed);
      expect(changes.map(({ oldText }) => oldText)).toEqual(['a\n']);
      const call = feed.transcript.items.find(item => item.kind === 'tool')!;
      expect(call.changes.size).toBe(0);
    }
  });

  it('come to light where a failed call no longer tells of them', () => {
    const feed = new Feed();
    feed.state('running');
    tool(feed, '/a', 'in_progress');
    wrote(feed, '/a');
    feed.update({
      sessionUpdate: 'tool_call_update',
      toolCallId: 't-/a',
      status: 'failed',
      content: [{ type: 'content', content: { type: 'text', text: 'no' } }]
    });
    expect(noted(feed)[0].isCovered).toBe(false);
  });

  it.each([1, 2000])('cost the same each, spread over %i files', files => {
    const count = 2000;
    const changes = new Changes();
    const turn = new TurnChanges();
    let looks = 0;
    for (let n = 0; n < count; n++) {
      const path = `/${n % files}`;
      const text = { path, oldText: `${n}\n`, newText: `${n + 1}\n` };
      const told = new Map([[0, changes.note(`t${n}:0`, text)]]);
      turn.tool({
        call: { ...newToolCall(`t${n}`), status: 'completed' },
        get changes() {
          looks++;
          return told;
        },
        revision: 0
      });
      const change = changes.note(`file-${n}`, text);
      const noted = { change, isCovered: false, isOwned: false, revision: 0 };
      turn.note(noted);
      expect(noted).toMatchObject({ isCovered: true, revision: 1 });
    }
    expect(turn.made().map(({ key }) => key)).toEqual(
      Array.from({ length: count }, (_, n) => `t${n}:0`)
    );
    expect(looks).toBeLessThan(20 * count);
  });
});
