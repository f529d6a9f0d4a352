// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { applyEdits, textEdits } from '../../src/documents/textchange';
import { Random } from '../support/random';

describe('textEdits', () => {
  it('changes a word where only a word changed', () => {
    const before = 'def one():\n    return old(1) + old(2)\n\nx = 1\n';
    const after = 'def one():\n    return new(1) + new(2)\n\nx = 1\n';
    expect(textEdits(before, after)).toEqual([
      { start: 22, end: 25, text: 'new' },
      { start: 31, end: 34, text: 'new' }
    ]);
  });

  it('changes part of a word', () => {
    expect(textEdits('value_1 = 1', 'value_2 = 1')).toEqual([
      { start: 6, end: 7, text: '2' }
    ]);
  });

  it('puts lines in without touching their neighbours', () => {
    expect(textEdits('a\nb\nc\n', 'a\nb\nnew\nc\nend')).toEqual([
      { start: 4, end: 4, text: 'new\n' },
      { start: 6, end: 6, text: 'end' }
    ]);
  });

  it('writes lines that have nothing in common in one piece', () => {
    const edits = textEdits('a\nfoo(b, c)\nz\n', 'a\nwhile d: e.f\nz\n');
    expect(edits).toHaveLength(1);
  });

  it('never parts a surrogate pair', () => {
    // The two share their first half, the next two their second.
    expect(textEdits('a😀b', 'a😁b')).toEqual([
      { start: 1, end: 3, text: '😁' }
    ]);
    expect(textEdits('\u{10000}', '\u{10400}')).toEqual([
      { start: 0, end: 2, text: '\u{10400}' }
    ]);
  });

  it('makes any text of any other', () => {
    const random = new Random(2);
    const words = ['foo', 'foob', ' ', '  ', '\n', '\n', '(', '😀', '😁', 'é'];
    for (let round = 0; round < 1000; round++) {
      const before = Array.from({ length: random.below(40) }, () =>
        random.pick(words)
      );
      const after = before.flatMap(word =>
        random.chance(0.2)
          ? [random.pick(words), word].slice(random.below(2))
          : word
      );
      const [old, wanted] = [before.join(''), after.join('')];
      const edits = textEdits(old, wanted);
      expect(applyEdits(old, edits)).toBe(wanted);
      edits.forEach(({ start, end }, index) => {
        expect(end).toBeGreaterThanOrEqual(start);
        expect(start).toBeGreaterThanOrEqual(edits[index - 1]?.end ?? 0);
        for (const place of [start, end]) {
          expect(old.charCodeAt(place) & 0xfc00).not.toBe(0xdc00);
        }
      });
    }
  });

  it('finds the edits of a long file with changes at both ends', () => {
    const lines = Array.from(
      { length: 200_000 },
      (_, index) => `line ${index}`
    );
    const changed = ['first', ...lines, 'last'];
    changed[100_000] = 'middle';
    const edits = textEdits(lines.join('\n'), changed.join('\n'));
    expect(edits).toHaveLength(3);
  });
});
