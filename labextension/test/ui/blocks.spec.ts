// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { MarkdownBlocks } from '../../src/ui/blocks';

function split(text: string, size: number): MarkdownBlocks {
  const blocks = new MarkdownBlocks();
  for (let start = 0; start < text.length; start += size) {
    blocks.append(text.slice(start, start + size));
  }
  return blocks;
}

const SAMPLE = [
  '# Title',
  '',
  'A paragraph',
  'of two lines.',
  '',
  '- one',
  '',
  '- two, in a loose list',
  '',
  '```python',
  'def f():',
  '',
  '    return 1',
  '```',
  '',
  '$$',
  'a',
  '',
  'b',
  '$$',
  '',
  'The end.',
  ''
].join('\n');

describe('MarkdownBlocks', () => {
  it.each([1, 2, 3, 7, 1000])(
    'splits the same in chunks of %i characters',
    size => {
      const blocks = split(SAMPLE, size);
      expect(blocks.text).toBe(SAMPLE);
      expect(
        [...blocks.finished, blocks.open].map(each => each.trim())
      ).toEqual([
        '# Title',
        'A paragraph\nof two lines.\n\n- one\n\n- two, in a loose list',
        '```python\ndef f():\n\n    return 1\n```',
        '$$\na\n\nb\n$$',
        'The end.'
      ]);
    }
  );

  it('does not end a fence at a shorter one or at one with a language', () => {
    const text = '````\n```\n\n```js\n\nx\n````\n\nafter\n';
    const blocks = split(text, 5);
    expect(blocks.finished).toEqual(['````\n```\n\n```js\n\nx\n````\n\n']);
  });

  it('never changes a finished block', () => {
    const blocks = new MarkdownBlocks();
    blocks.append('one\n\ntwo\n\nthree');
    const [first] = blocks.finished;
    blocks.append('\n\nfour\n');
    expect(blocks.finished[0]).toBe(first);
  });
});
