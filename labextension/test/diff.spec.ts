// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { diffStat, lineDiff } from '../src/model/diff';

function show(oldText: string, newText: string): string[] {
  const sign = { same: ' ', added: '+', removed: '-', skipped: '~' };
  return lineDiff(oldText, newText).map(line => sign[line.kind] + line.text);
}

describe('lineDiff', () => {
  it('shows a changed line between unchanged ones', () => {
    expect(show('a\nb\nc\n', 'a\nB\nc\n')).toEqual([' a', '-b', '+B', ' c']);
  });

  it('shows a new file as added and an emptied one as removed', () => {
    expect(show('', 'a\nb')).toEqual(['+a', '+b']);
    expect(show('a\nb', '')).toEqual(['-a', '-b']);
  });

  it('leaves out long unchanged stretches', () => {
    const lines = Array.from({ length: 40 }, (_, index) => `line ${index}`);
    const changed = [...lines];
    changed[20] = 'changed';
    const shown = show(lines.join('\n'), changed.join('\n'));
    expect(shown[0]).toBe('~');
    expect(shown.at(-1)).toBe('~');
    expect(shown).toHaveLength(2 + 3 + 2 + 3);
  });

  it('counts what it adds and removes', () => {
    expect(diffStat(lineDiff('a\nb', 'a\nc\nd'))).toEqual({
      added: 2,
      removed: 1
    });
  });

  it('stays fast when everything changed', () => {
    const many = (word: string) =>
      Array.from({ length: 20_000 }, (_, index) => word + index).join('\n');
    const start = performance.now();
    expect(lineDiff(many('a'), many('b'))).toHaveLength(40_000);
    expect(performance.now() - start).toBeLessThan(1000);
  });
});
