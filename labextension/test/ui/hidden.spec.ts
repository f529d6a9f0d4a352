// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { hasHidden, hiddenParts } from '../../src/ui/hidden';

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
    ['so\u00adft', 'so<U+00AD>ft'],
    ['ls\ufe0f', 'ls<U+FE0F>'],
    ['ls\ufe00 -l', 'ls<U+FE00> -l'],
    ['1\ufe0f2', '1<U+FE0F>2'],
    ['❤\ufe01', '❤<U+FE01>'],
    ['❤\ufe0f\ufe0f', '❤\ufe0f<U+FE0F>'],
    ['\ufe0f', '<U+FE0F>'],
    ['rm\u2800x', 'rm<U+2800>x'],
    ['ls\u{1d159}', 'ls<U+1D159>'],
    ['ls\u3164', 'ls<U+3164>'],
    ['a\u115fb\u1160c', 'a<U+115F>b<U+1160>c'],
    ['a\uffa0b', 'a<U+FFA0>b'],
    ['a\u034fb', 'a<U+034F>b'],
    ['a\u180eb', 'a<U+180E>b'],
    ['a\u{e0100}b\u{e01ef}', 'a<U+E0100>b<U+E01EF>'],
    ['a\u{e0001}b\u{e007f}', 'a<U+E0001>b<U+E007F>']
  ])('are named', (text, expected) => {
    expect(shown(text)).toBe(expected);
    expect(hasHidden(text)).toBe(true);
  });

  it.each([
    'plain text\n\twith lines',
    'lines of\r\nWindows\r',
    'Grüße, 日本語, עברית, العربية',
    '👩‍💻 👨‍👩‍👧‍👦 👍🏽 ❤️‍🔥',
    '❤\ufe0f ☎\ufe0e ©\ufe0f 👁\ufe0f\u200d🗨\ufe0f 1\ufe0f\u20e3 #\ufe0f\u20e3',
    ''
  ])('are not seen where there are none', text => {
    expect(shown(text)).toBe(text);
    expect(hasHidden(text)).toBe(false);
  });

  // Anything but linear work would take longer than a test may.
  it('are looked for in linear time', () => {
    for (const part of ['❤\ufe0f', '👩\u200d', 'a\ufe0f', '\u2800']) {
      expect(hiddenParts(part.repeat(400_000))).not.toHaveLength(0);
    }
  });
});
