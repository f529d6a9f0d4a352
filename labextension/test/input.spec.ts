// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { inputText } from '../src/model/input';
import type { ToolContent } from '../src/protocol';

function text(text: string): ToolContent {
  return { type: 'content', content: { type: 'text', text } };
}

const DIFF: ToolContent = { type: 'diff', path: '/a', newText: 'a' };

function told(rawInput: unknown, ...content: ToolContent[]): string {
  return inputText({ rawInput, content });
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
    ).toBe('ls\nargs: ["-l","a b"]\ncwd: /tmp\nenv:\nA=1\nPATH=/evil');
    expect(told({ command: 'ls', env: { A: '1' } })).toBe('ls\nenv: A=1');
    expect(told({ command: 'ls', env: ['A=1'] })).toBe('ls\nenv: ["A=1"]');
  });

  it('tells everything else as it is', () => {
    expect(told({ command: ['ls', '-l'], cwd: '/' })).toBe(
      JSON.stringify({ command: ['ls', '-l'], cwd: '/' }, null, 2)
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
    const change: ToolContent = { ...DIFF, oldText: 'one', newText: 'two' };
    expect(told({ path: '/a', old: 'one', new: 'two' }, change)).toBe('');
  });

  it('tells what the content does not', () => {
    expect(told({ command: 'rm' }, text('Let me confirm'))).toBe('rm');
    expect(told({ a: 1 }, text('Harmless'))).toBe('{\n  "a": 1\n}');
    expect(told({ command: 'rm a' }, DIFF)).toBe('rm a');
    // A change beside it does not tell what else would be done.
    expect(told({ path: '/a', script: 'rm b' }, DIFF)).toBe('script: rm b');
    expect(told(['rm b'], DIFF)).toBe('[\n  "rm b"\n]');
    expect(
      told({ command: 'rm a' }, { type: 'terminal', terminalId: 't' })
    ).toBe('rm a');
  });
});
