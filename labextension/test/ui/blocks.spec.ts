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
        '$$\na\nb\n$$',
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

  it.each([
    'This costs $$5, in a shell `$$` is a number.',
    'An unclosed $$x + y',
    '$$\nx + y, unclosed as well',
    '\\begin{align}\nx'
  ])('goes on after signs of a formula that is none: %s', text => {
    const blocks = split(`${text}\n\none\n\ntwo\n\nthree\n`, 4);
    expect(blocks.finished.map(each => each.trim())).toEqual([
      text,
      'one',
      'two'
    ]);
  });

  it.each([1, 6, 1000])(
    'keeps an element of HTML with blank lines whole, in chunks of %i characters',
    size => {
      const details = [
        '<details>',
        '<summary>More</summary>',
        '',
        'Text, and what `</details>` means.',
        '',
        '```html',
        '</details>',
        '```',
        '',
        '<DETAILS open><summary>Inner</summary>',
        '',
        'inner',
        '',
        '</DETAILS>',
        '',
        'last',
        '',
        '</details>'
      ].join('\n');
      const blocks = split(`Before\n${details}\n\nafter\n\nend\n`, size);
      expect(
        [...blocks.finished, blocks.open].map(each => each.trim())
      ).toEqual([`Before\n${details}`, 'after', 'end']);
    }
  );

  it('keeps an element that has no end until the end of the text', () => {
    const text = '<div class="a">\n\none\n\ntwo\n\nthree';
    const blocks = split(text, 5);
    expect(blocks.finished).toEqual([]);
    expect(blocks.open).toBe(text);
  });

  it.each([
    '<details><summary>s</summary>on one line</details>',
    '`<details>` is an element',
    'In a line, <details> opens nothing',
    '    <details> in indented code',
    '<details-list> is another element',
    '<br>',
    '<p>needs no end'
  ])('does not wait for an end tag after %s', text => {
    const blocks = split(`a\n\n${text}\n\none\n\ntwo\n`, 7);
    expect(blocks.finished.at(-1)).toBe('one\n\n');
  });
});
