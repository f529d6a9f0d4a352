// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { hasHidden, hiddenParts } from '../src/model/hidden';

const shown = (text: string): string =>
  hiddenParts(text)
    .map(part => (part.isHidden ? `<${part.text}>` : part.text))
    .join('');

describe('hidden characters', () => {
  it.each([
    ['rm -rf \u202ecod.txt', 'rm -rf <U+202E>cod.txt'],
    ['a\u200bb', 'a<U+200B>b'],
    ['\u2066x\u2069', '<U+2066>x<U+2069>'],
    ['\ufeffcurl', '<U+FEFF>curl'],
    ['ls\u{e0041}', 'ls<U+E0041>'],
    ['a\rb\u001b[2K', 'a<U+000D>b<U+001B>[2K'],
    ['a\u200db', 'a<U+200D>b'],
    ['so\u00adft', 'so<U+00AD>ft']
  ])('are named', (text, expected) => {
    expect(shown(text)).toBe(expected);
    expect(hasHidden(text)).toBe(true);
  });

  it.each([
    'plain text\n\twith lines',
    'lines of\r\nWindows\r',
    'Grüße, 日本語, עברית, العربية',
    '👩‍💻 👨‍👩‍👧‍👦 👍🏽 ❤️‍🔥',
    ''
  ])('are not seen where there are none', text => {
    expect(shown(text)).toBe(text);
    expect(hasHidden(text)).toBe(false);
  });
});
