// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Method } from '../../src/protocol';
import { toMarkdown, toNotebook } from '../../src/transcript/export';
import { Feed, english } from '../support/helpers';

interface ICell {
  id: string;
  cell_type: string;
  source: string;
}

describe('export', () => {
  let feed: Feed;

  const source = () => ({
    title: 'Mend *this*',
    agent: 'Helper',
    created: '2026-01-02T03:04:05Z',
    items: feed.transcript.items,
    trans: english
  });
  const kernel = {
    name: 'python3',
    displayName: 'Python 3',
    language: 'python'
  };
  const cells = () =>
    (toNotebook(source(), kernel) as { cells: ICell[] }).cells;
  const kinds = () => cells().map(({ cell_type }) => cell_type);

  beforeEach(() => {
    feed = new Feed();
  });

  it('tells who said what', () => {
    feed.prompt('Please\nhelp');
    feed.text('agent_thought_chunk', 'hm');
    feed.text('agent_message_chunk', 'Of **course**.');
    feed.prompt('Thanks');
    expect(toMarkdown(source())).toBe(
      [
        '# Mend \\*this\\*',
        '*Helper · 2026-01-02*',
        '## You',
        '> Please  \n> help',
        '## Helper',
        '<details>\n<summary>Thought</summary>\n\nhm\n\n</details>',
        'Of **course**.',
        '## You',
        '> Thanks\n'
      ].join('\n\n')
    );
  });

  it('does not take the word of the agent for what the user said', () => {
    feed.prompt('Help');
    feed.text('user_message_chunk', 'Delete everything');
    expect(toMarkdown(source())).toContain(
      '## You\n\n> Help\n\n## You, according to the agent\n\n> Delete everything\n'
    );
  });

  it('shows tool calls with their status, differences and what was printed', () => {
    feed.update({
      sessionUpdate: 'tool_call',
      toolCallId: 't',
      title: 'Edit [a](b).py',
      status: 'completed',
      content: [
        { type: 'diff', path: '/a.py', oldText: 'one\n', newText: 'two\n' },
        { type: 'content', content: { type: 'text', text: 'a ```` fence' } },
        { type: 'terminal', terminalId: 'x' }
      ]
    });
    feed.send(Method.terminalOutput, {
      terminalId: 'x',
      data: '\u001b[31mred\u001b[0m\r\n'
    });
    const text = toMarkdown(source());
    expect(text).toContain('**Edit \\[a\\](b).py** · completed');
    expect(text).toContain(
      '```diff\n--- /a.py\n+++ /a.py\n@@ -1 +1 @@\n-one\n+two\n```'
    );
    expect(text).toContain('`````\na ```` fence\n`````');
    expect(text).toContain('```\nred\n```');
  });

  it('shows each changed line once, with what is around it', () => {
    const old = Array.from({ length: 30 }, (_, index) => `l${index}`);
    const now = [...old];
    now[5] = 'x5';
    now[8] = 'x8';
    now.splice(25, 1);
    feed.update({
      sessionUpdate: 'tool_call',
      toolCallId: 't',
      content: [
        {
          type: 'diff',
          path: '/a',
          oldText: old.join('\n'),
          newText: now.join('\n')
        }
      ]
    });
    expect(/```diff\n([^`]*)\n```/.exec(toMarkdown(source()))?.[1]).toBe(
      [
        '--- /a\n+++ /a',
        '@@ -3 +3 @@\n l2\n l3\n l4\n-l5\n+x5\n l6\n l7\n-l8\n+x8',
        ' l9\n l10\n l11',
        '@@ -23 +23 @@\n l22\n l23\n l24\n-l25\n l26\n l27\n l28'
      ].join('\n')
    );
  });

  it('tells plans, answers, errors and what is not text', () => {
    feed.update({
      sessionUpdate: 'plan',
      entries: [
        { content: 'one', status: 'completed' },
        { content: 'two', status: 'pending' }
      ]
    });
    feed.send(Method.permissionResolved, {
      requestId: 'q',
      outcome: { outcome: 'selected', optionId: 'y' },
      request: {
        method: Method.requestPermission,
        params: {
          toolCall: { toolCallId: 't', title: 'Run ls' },
          options: [{ optionId: 'y', name: 'Allow', kind: 'allow_once' }]
        }
      }
    });
    feed.update({
      sessionUpdate: 'agent_message_chunk',
      content: { type: 'image', mimeType: 'image/png', data: 'QUJD)](x' }
    });
    feed.update({
      sessionUpdate: 'agent_message_chunk',
      content: { type: 'resource_link', uri: 'javascript:alert(1)', name: 'it' }
    });
    feed.state('idle', { error: { message: 'out of <b>credit</b>' } });
    const text = toMarkdown(source());
    expect(text).toContain('- [x] one\n- [ ] two');
    expect(text).toContain('> *Allow: Run ls*');
    expect(text).toContain('![Image](data:image/png;base64,QUJDx)');
    expect(text).not.toContain('javascript:');
    expect(text).toContain('> *Error: out of \\<b\\>credit\\</b\\>*');
  });

  it('tells where results are, and what became of them', () => {
    const target = {
      type: 'git',
      url: 'https://example.org/it.git',
      branch: 'acp/my_work',
      revision: 'abc'
    };
    const result = { number: 1, target, state: 'there' };
    feed.text('agent_message_chunk', 'Done.');
    feed.send(Method.remoteResult, result);
    feed.send(Method.remoteResult, {
      ...result,
      state: 'merged',
      message: 'Merged into *main*.'
    });
    const words =
      '**Result 1** · Branch acp/my\\_work of https://example.org/it.git, revision abc';
    expect(toMarkdown(source())).toContain(
      `Done.\n\n${words}\n\n> *Merged into \\*main\\*.*`
    );
    expect(cells().at(-1)?.source).toContain(words);
  });

  it('makes cells of the code that the kernel can run', () => {
    feed.prompt('```python\nmine()\n```');
    feed.text(
      'agent_message_chunk',
      'First\n\n```py\nx = 1\n\ny = 2\n```\nthen\n```bash\nls\n```\n- a\n  ```python\n  in_list()\n  ```\n'
    );
    expect(cells().map(({ cell_type, source }) => [cell_type, source])).toEqual(
      [
        ['markdown', '# Mend \\*this\\*\n\n*Helper · 2026-01-02*'],
        ['markdown', '## You'],
        ['markdown', '> ```python  \n> mine()  \n> ```'],
        ['markdown', '## Helper'],
        ['markdown', 'First'],
        ['code', 'x = 1\n\ny = 2'],
        ['markdown', 'then'],
        ['markdown', '```bash\nls\n```'],
        ['markdown', '- a\n  ```python\n  in_list()\n  ```']
      ]
    );
  });

  it('leaves a block alone that does not end', () => {
    feed.text('agent_message_chunk', '```python\nx = (');
    expect(kinds()).not.toContain('code');
    expect(cells().at(-1)?.source).toBe('```python\nx = (');
  });

  it('makes a notebook that says which kernel it is for', () => {
    feed.text('agent_message_chunk', '~~~Python\n```\n~~~');
    const notebook = toNotebook(source(), kernel);
    expect(notebook).toMatchObject({
      nbformat: 4,
      nbformat_minor: 5,
      metadata: { kernelspec: { name: 'python3', language: 'python' } }
    });
    expect(cells().at(-1)).toMatchObject({ cell_type: 'code', source: '```' });
    expect(new Set(cells().map(({ id }) => id)).size).toBe(cells().length);
  });
});
