// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { ToolCallContent, ToolKind } from '@agentclientprotocol/sdk';

import { inputText } from '../../src/tools/input';

function text(text: string): ToolCallContent {
  return { type: 'content', content: { type: 'text', text } };
}

const DIFF: ToolCallContent = { type: 'diff', path: '/a', newText: 'a' };

function told(rawInput: unknown, ...content: ToolCallContent[]): string {
  return toldAs('other', rawInput, ...content);
}

function toldAs(
  kind: ToolKind,
  rawInput: unknown,
  ...content: ToolCallContent[]
): string {
  return inputText({ kind, rawInput, content, locations: [] });
}

describe('inputText', () => {
  it('tells a command, where it would run, and with what', () => {
    expect(told({ command: 'ls' })).toBe('ls');
    expect(
      told({
        command: 'ls',
        args: ['-l', 'a b'],
        cwd: '/tmp',
        env: [
          { name: 'A', value: '1' },
          { name: 'PATH', value: '/evil' }
        ],
        timeout: null
      })
    ).toBe('ls\nargs: ["-l","a b"]\ncwd: /tmp\nenv:\n  A=1\n  PATH=/evil');
    expect(told({ command: 'ls', env: { A: '1' } })).toBe('ls\nenv: A=1');
    expect(told({ command: 'ls', env: ['A=1'] })).toBe('ls\nenv: ["A=1"]');
  });

  it('tells everything else as it is', () => {
    expect(told({ command: ['ls', '-l'], cwd: '/' })).toBe(
      'command: ["ls","-l"]\ncwd: /'
    );
    expect(told('plain')).toBe('plain');
    expect(told([1])).toBe('[\n  1\n]');
    for (const nothing of [undefined, null, '', {}, []]) {
      expect(told(nothing)).toBe('');
    }
  });

  it('does not repeat what the content tells', () => {
    const code = 'x = 1\ny = 2\n';
    const fenced = text(`\`\`\`python\n${code}\`\`\``);
    expect(told({ code }, fenced)).toBe('');
    expect(told({ path: '/n', code }, fenced)).toBe('path: /n');
    expect(told('plain', text('plain'))).toBe('');
    const change: ToolCallContent = { ...DIFF, oldText: 'one', newText: 'two' };
    expect(told({ old: 'one', new: 'two\n' }, change)).toBe('');
    expect(told({ path: '/a', old: 'one', new: 'two' }, change)).toBe(
      'path: /a'
    );
  });

  it('does not repeat what a diff takes out or puts in', () => {
    const around = 'a\n'.repeat(100);
    const change: ToolCallContent = {
      ...DIFF,
      oldText: `${around}one\n1\n${around}`,
      newText: `${around}two\n${around}`
    };
    expect(toldAs('edit', { old: 'one\n1', new: 'two' }, change)).toBe('');
    expect(toldAs('edit', { old: 'one', new: 'two' }, change)).toBe('old: one');
  });

  it.each([
    'command',
    'cmd',
    'script',
    'code',
    'args',
    'cwd',
    'path',
    'paths',
    'file',
    'file_path',
    'filePath',
    'abs_path',
    'notebook_path',
    'working_directory',
    'uri',
    'url'
  ])('always tells what would be done and where: %s', name => {
    const text = 'touch pwned';
    const around = 'a\n'.repeat(100);
    for (const change of [
      { ...DIFF, oldText: text, newText: 'other' },
      { ...DIFF, oldText: 'other', newText: text },
      { ...DIFF, path: text },
      {
        ...DIFF,
        oldText: `${around}${text}\n${around}`,
        newText: `${around}${text}\n${around}new\n`
      }
    ]) {
      for (const kind of ['execute', 'edit', 'other'] as const) {
        expect(toldAs(kind, { [name]: text }, change)).toContain(text);
        expect(toldAs(kind, { [name]: [text] }, change)).toContain(text);
      }
    }
  });

  it('tells what stands in a change without being a part of it', () => {
    const around = 'a\n'.repeat(100);
    const unchanged: ToolCallContent = {
      ...DIFF,
      oldText: `${around}touch pwned\n${around}`,
      newText: `${around}touch pwned\n${around}new\n`
    };
    expect(told({ step: 'touch pwned' }, unchanged)).toContain('touch pwned');
    const none = { ...DIFF, oldText: 'touch pwned', newText: 'touch pwned' };
    expect(told({ step: 'touch pwned' }, none)).toContain('touch pwned');
  });

  it('tells all of what is to be executed', () => {
    const change = { ...DIFF, oldText: 'touch pwned', newText: 'other' };
    expect(toldAs('edit', { step: 'touch pwned' }, change)).toBe('');
    expect(toldAs('execute', { step: 'touch pwned' }, change)).toBe(
      'step: touch pwned'
    );
  });

  it('tells a place once, if it is shown as one', () => {
    const call = {
      kind: 'execute' as const,
      content: [text('```\nx = 1\n```')],
      locations: [{ path: '/n.ipynb' }]
    };
    const rawInput = { path: '/n.ipynb', code: 'x = 1' };
    expect(inputText({ ...call, rawInput })).toBe('');
    expect(inputText({ ...call, rawInput: { ...rawInput, path: '/o' } })).toBe(
      'path: /o'
    );
    expect(
      inputText({ ...call, rawInput: { ...rawInput, script: '/n.ipynb' } })
    ).toBe('script: /n.ipynb');
  });

  it('lets no line of a value look like another field', () => {
    expect(told({ note: 'x\npath: /safe', path: '/evil' })).toBe(
      'note:\n  x\n  path: /safe\npath: /evil'
    );
  });

  it('tells what the content does not', () => {
    expect(told({ command: 'rm' }, text('Let me confirm'))).toBe('rm');
    // Something among others is easily overlooked.
    expect(told({ command: 'rm a' }, text('ls\nrm a\nls'))).toBe('rm a');
    expect(told({ command: 'rm a' }, text('rm a'), text('ls'))).toBe('rm a');
    expect(told({ a: 1 }, text('Harmless'))).toBe('a: 1');
    expect(told({ command: 'rm a' }, DIFF)).toBe('rm a');
    // A change beside it does not tell what else would be done.
    expect(told({ new: 'a', script: 'rm b' }, DIFF)).toBe('script: rm b');
    expect(told(['rm b'], DIFF)).toBe('[\n  "rm b"\n]');
    expect(
      told({ command: 'rm a' }, { type: 'terminal', terminalId: 't' })
    ).toBe('rm a');
  });
});
