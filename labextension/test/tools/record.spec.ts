// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { ISummaryItem } from '../../src/changes/items';
import { toolRecord } from '../../src/decode/record';
import { ignore } from '../../src/decode/shapes';
import { Method } from '../../src/protocol';
import type { IToolItem } from '../../src/tools/items';
import { shownTool } from '../../src/tools/shown';
import { toMarkdown } from '../../src/transcript/export';
import { type Row, toRows } from '../../src/transcript/groups';
import { Feed, english } from '../support/helpers';

const PATH = '/work/sales.ipynb';

const notebook = (...sources: string[]): string =>
  JSON.stringify({
    nbformat: 4,
    nbformat_minor: 5,
    metadata: {},
    cells: sources.map((source, index) => ({
      id: `c${index}`,
      cell_type: 'code',
      metadata: {},
      source
    }))
  });

class Records extends Feed {
  record(id: string, extra: object = {}): void {
    this.send(Method.toolRecord, {
      id,
      toolCallId: null,
      name: 'edit_cell',
      arguments: {},
      title: 'Edit cell 1 of sales.ipynb',
      status: 'in_progress',
      path: PATH,
      ...extra
    });
  }

  call(toolCallId: string, extra: object = {}): void {
    this.update({
      sessionUpdate: 'tool_call',
      toolCallId,
      title: 'mcp__jupyter__edit_cell',
      status: 'in_progress',
      ...extra
    });
  }

  changed(before: string, after: string): void {
    this.send(Method.fileChanged, {
      path: PATH,
      oldText: notebook(before),
      newText: notebook(after)
    });
  }

  get rows(): Row[] {
    return toRows(this.transcript.items, new Set());
  }

  get tools(): IToolItem[] {
    return this.rows.filter((row): row is IToolItem => row.kind === 'tool');
  }

  /** What each row is, and how it stands. */
  get shown(): string[] {
    return this.tools.map(item => {
      const { title, status } = shownTool(item, english);
      return `${title}: ${status}`;
    });
  }
}

const DONE = { status: 'completed', result: {} };

describe('a record of one of our tools', () => {
  it('is shown in the row of the call that it is', () => {
    const feed = new Records();
    feed.call('t', { rawInput: { cell_id: 'c0' } });
    expect(feed.shown).toEqual(['Edit cell: in_progress']);
    feed.record('r', { toolCallId: 't' });
    feed.record('r', { toolCallId: 't', ...DONE });
    feed.call('t', { title: '{}', status: 'failed' });
    expect(feed.shown).toEqual(['Edit cell 1 of sales.ipynb: completed']);
    expect(feed.tools[0].call.rawInput).toEqual({ cell_id: 'c0' });
  });

  it('waits for a call that comes later', () => {
    const feed = new Records();
    feed.record('r', { toolCallId: 't' });
    feed.call('t');
    expect(feed.shown).toEqual(['Edit cell 1 of sales.ipynb: in_progress']);
  });

  it('has a row of its own if nobody knows which call it is', () => {
    const feed = new Records();
    feed.call('t');
    feed.record('r');
    feed.record('r', DONE);
    expect(feed.shown).toEqual([
      'Edit cell: in_progress',
      'Edit cell 1 of sales.ipynb: completed'
    ]);
  });

  it.each([true, false])(
    'goes to where it belongs once that is known, announced: %s',
    isAnnounced => {
      const feed = new Records();
      if (isAnnounced) {
        feed.call('t');
      }
      feed.record('r');
      feed.changed('x = 1', 'x = 2');
      feed.record('r', { toolCallId: 't', ...DONE });
      feed.call('t', { status: 'completed' });
      expect(feed.shown).toEqual(['Edit cell 1 of sales.ipynb: completed']);
      expect(feed.tools[0].made).toHaveLength(1);
      feed.text('agent_message_chunk', 'done');
      const keys = feed.transcript.items.map(({ key }) => key);
      expect(new Set(keys).size).toBe(keys.length);
    }
  );

  it('is one of several that one call of the agent makes', () => {
    const feed = new Records();
    feed.call('t', { title: 'Run a script' });
    feed.record('r', { toolCallId: 't', ...DONE });
    feed.record('s', { toolCallId: 't', title: 'Run it', ...DONE });
    expect(feed.shown).toEqual([
      'Edit cell 1 of sales.ipynb: completed',
      'Run it: completed'
    ]);
  });

  it('ends with the turn if nobody says how it went, and may say so late', () => {
    const feed = new Records();
    feed.state('running');
    feed.record('r');
    feed.state('idle', { stopReason: 'cancelled' });
    expect(feed.shown).toEqual(['Edit cell 1 of sales.ipynb: ended']);
    feed.record('r', { status: 'failed', error: { message: 'Too late.' } });
    expect(feed.shown).toEqual(['Edit cell 1 of sales.ipynb: failed']);
  });

  it.each([
    {},
    null,
    { id: 'r' },
    { id: 'r', name: 'run_cell', title: 'Run', status: 'odd' },
    { id: 'r', name: 7, title: 'Run', status: 'failed' }
  ])('is none if it says nothing: %j', params => {
    expect(toolRecord(params, ignore)).toBeUndefined();
  });

  it('tells how much of a notebook was read', () => {
    const feed = new Records();
    const read = { name: 'read_notebook', title: 'Read', status: 'completed' };
    feed.record('a', { ...read, result: { cells: 12, shown: 12 } });
    feed.record('b', { ...read, result: { cells: 12, shown: 5 } });
    feed.record('c', { ...read, result: { cells: 1, shown: 1 } });
    feed.record('d', { ...read, status: 'in_progress' });
    expect(feed.shown).toEqual([
      'Read 12 cells of sales.ipynb: completed',
      'Read 5 of 12 cells of sales.ipynb: completed',
      'Read 1 cell of sales.ipynb: completed',
      'Read: in_progress'
    ]);
  });
});

describe('a change that one of our tools makes', () => {
  it('is shown once, in the row of the tool', () => {
    const feed = new Records();
    feed.state('running');
    feed.call('t');
    feed.record('r', { toolCallId: 't' });
    feed.changed('x = 1', 'x = 2');
    feed.record('r', { toolCallId: 't', ...DONE });
    expect(feed.rows.map(({ kind }) => kind)).toEqual(['tool']);
    const [{ made, revision }] = feed.tools;
    expect(made.map(({ path }) => path)).toEqual([PATH]);
    feed.send(Method.changeDecided, {
      change: made[0].key,
      parts: ['c0'],
      decision: 'undo'
    });
    expect(feed.tools[0].revision).toBeGreaterThan(revision);
    feed.state('idle', { stopReason: 'end_turn' });
    const summary = feed.transcript.items.at(-1) as ISummaryItem;
    expect(summary.changes).toEqual(made);
  });

  it('counts also where the agent shows a diff of its own', () => {
    const feed = new Records();
    feed.state('running');
    const diff = { type: 'diff', path: PATH, oldText: 'a', newText: 'b' };
    feed.call('t', { content: [diff] });
    feed.record('r', { toolCallId: 't' });
    feed.changed('x = 1', 'x = 2');
    feed.record('r', { toolCallId: 't', ...DONE });
    feed.call('t', { status: 'completed', content: [diff] });
    feed.state('idle', { stopReason: 'end_turn' });
    const summary = feed.transcript.items.at(-1) as ISummaryItem;
    expect(summary.changes).toEqual(feed.tools[0].made);
  });

  it('is of the call whose source it puts in, if several run', () => {
    const feed = new Records();
    feed.record('a', { arguments: { source: 'x = 2' } });
    feed.record('b', { arguments: { source: 'x = 3' } });
    feed.changed('x = 2', 'x = 3');
    feed.changed('x = 1', 'x = 2');
    expect(feed.tools.map(({ made }) => made[0].newText)).toEqual([
      notebook('x = 2'),
      notebook('x = 3')
    ]);
  });

  it('is found if only the end says which notebook it was', () => {
    const feed = new Records();
    feed.record('r', { path: undefined });
    feed.changed('x = 1', 'x = 2');
    expect(feed.rows.map(({ kind }) => kind)).toEqual(['tool', 'change']);
    feed.record('r', DONE);
    expect(feed.rows.map(({ kind }) => kind)).toEqual(['tool']);
  });

  it.each([
    ['another file', { path: '/work/other.ipynb' }],
    ['a tool that changes nothing', { name: 'read_notebook' }]
  ])('is not that of %s', (_, extra) => {
    const feed = new Records();
    feed.record('r', extra);
    feed.changed('x = 1', 'x = 2');
    feed.record('r', { ...extra, ...DONE });
    expect(feed.rows.map(({ kind }) => kind)).toEqual(['tool', 'change']);
  });
});

describe('a request that our own rules decide', () => {
  const decided = {
    kind: 'tool',
    subject: 'edit_cell',
    decision: 'allow',
    by: 'own tool',
    toolCallId: 't'
  };

  it.each([true, false])('is noted in the row, known before: %s', isKnown => {
    const feed = new Records();
    if (isKnown) {
      feed.call('t');
    }
    feed.send(Method.permissionDecided, decided);
    expect(feed.rows).toHaveLength(isKnown ? 1 : 0);
    feed.call('t');
    expect(feed.tools.map(({ isRuled }) => isRuled)).toEqual([true]);
    expect(
      toMarkdown({
        title: 'T',
        agent: 'A',
        items: feed.transcript.items,
        trans: english
      })
    ).toContain('its own rules apply to this tool');
    feed.state('idle');
    expect(feed.rows).toHaveLength(1);
  });

  it('has a row at the end of its turn if nothing came of it', () => {
    const feed = new Records();
    feed.state('running');
    feed.send(Method.permissionDecided, decided);
    feed.send(Method.permissionDecided, { ...decided, toolCallId: 'u' });
    feed.record('r', { toolCallId: 'u', ...DONE });
    expect(feed.rows).toHaveLength(1);
    feed.state('idle');
    expect(feed.shown).toEqual([
      'Edit cell 1 of sales.ipynb: completed',
      'Edit cell: ended'
    ]);
    expect(feed.tools.map(({ isRuled }) => isRuled)).toEqual([true, true]);
    feed.state('running');
    feed.state('idle');
    expect(feed.rows).toHaveLength(2);
  });
});

describe('what a record tells', () => {
  const dropped: unknown[] = [];
  const record = (name: string, result: unknown) =>
    toolRecord(
      { id: 'r', name, title: 'T', status: 'completed', result },
      part => dropped.push(part)
    )!;
  const stream = { output_type: 'stream', name: 'stdout', text: ['a', 'b'] };

  it('is made into something that can be shown, and the rest is dropped', () => {
    const { runs } = record('run_cells', {
      language: 'R',
      cells: [
        {
          source: 'x',
          cell: { id: 'c0', index: 2 },
          outputs: [stream, null, { output_type: 'odd' }],
          executionCount: 3,
          status: 'ok',
          note: ''
        },
        null
      ]
    });
    expect(runs).toEqual([
      {
        source: 'x',
        language: 'R',
        cell: { id: 'c0', index: 2 },
        outputs: [{ output_type: 'stream', name: 'stdout', text: 'ab' }],
        executionCount: 3,
        status: 'ok',
        note: ''
      }
    ]);
    expect(dropped).toEqual([null, null, { output_type: 'odd' }]);
    expect(record('run_cell', null).runs).toEqual([]);
    expect(record('read_variables', { variables: {} }).variables).toEqual({
      variables: [],
      more: 0,
      imports: {}
    });
    const png = {
      output_type: 'display_data',
      data: { 'image/png': ['a', 'b'] }
    };
    expect(record('cell_output', { outputs: [png] }).outputs).toEqual([
      {
        output_type: 'display_data',
        data: { 'image/png': 'ab' },
        metadata: {}
      }
    ]);
    expect(record('read_notebook', { output: png }).outputs).toEqual([]);
  });

  it('folds no run away among other calls', () => {
    const feed = new Records();
    const run = { source: 'x', outputs: [], status: 'ok' };
    for (const id of ['a', 'b', 'c', 'd']) {
      feed.record(id, { name: 'run_cell', status: 'completed', result: run });
    }
    expect(feed.tools).toHaveLength(4);
    for (const id of ['e', 'f', 'g', 'h']) {
      feed.record(id, { name: 'read_notebook', ...DONE });
    }
    expect(feed.rows.map(({ kind }) => kind).at(-1)).toBe('group');
  });

  it('is exported as it is shown', () => {
    const feed = new Records();
    feed.call('t', { title: '{}', rawInput: { cell_id: 'c0' } });
    feed.record('r', {
      toolCallId: 't',
      name: 'run_cell',
      title: 'Run cell 3 of sales.ipynb',
      status: 'completed',
      result: {
        source: 'plot()',
        outputs: [
          { ...stream, text: '\u001b[31mred\u001b[0m' },
          {
            output_type: 'display_data',
            data: { 'image/png': 'AAAA', 'text/plain': '<Figure>' }
          }
        ],
        status: 'ok',
        note: ''
      }
    });
    feed.record('v', {
      name: 'read_variables',
      title: 'Variables',
      status: 'completed',
      result: {
        variables: [
          { name: 'df', type: 'DataFrame', shape: '3 x 2', value: '…' }
        ]
      }
    });
    feed.record('e');
    feed.changed('x = 1', 'x = 2');
    const text = toMarkdown({
      title: 'S',
      agent: 'A',
      items: feed.transcript.items,
      trans: english
    });
    expect(text).toContain('**Run cell 3 of sales.ipynb** · completed');
    expect(text).toContain('```python\nplot()\n```\n\n```\nred\n```');
    expect(text).toContain('![Image](data:image/png;base64,AAAA)');
    expect(text).toContain('df: DataFrame [3 x 2] = …');
    expect(text.match(/^\+.*x = 2/gm)).toHaveLength(1);
    expect(text).not.toContain('cell_id');
  });
});
