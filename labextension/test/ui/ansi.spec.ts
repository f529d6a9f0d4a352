// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { AnsiText, type IAnsiRun } from '../../src/ui/ansi';
import { Random } from '../support/random';

function printed(...chunks: string[]): AnsiText {
  const text = new AnsiText();
  chunks.forEach(chunk => text.append(chunk));
  return text;
}

function runs(text: AnsiText): IAnsiRun[] {
  return [...text.blocks.flatMap(block => block.runs), ...text.open];
}

describe('AnsiText', () => {
  describe('what is written', () => {
    it.each([
      ['plain text\nand more', 'plain text\nand more'],
      ['10%\r50%\r100%\r\nnext\r\n', '100%\nnext\n'],
      ['long line\rshort', 'shortline'],
      ['long line\r\u001b[Kshort', 'short'],
      ['abc\b\bX', 'aXc'],
      ['abc\u001b[1Kd', '   d'],
      ['abc\u001b[2Kd', '   d'],
      ['\b\b\bx', 'x'],
      ['a\tb', 'a\tb'],
      ['smile 😀\b😎', 'smile 😎'],
      ['<b onclick="x()">&amp;</b>', '<b onclick="x()">&amp;</b>']
    ])('%j is %j', (given, expected) => {
      expect(printed(given).text).toBe(expected);
    });

    it.each([
      ['titles', '\u001b]0;title\u0007done'],
      ['titles with another end', '\u001b]0;title\u001b\\done'],
      ['links', '\u001b]8;;https://x.invalid\u0007done\u001b]8;;\u0007'],
      ['movements', '\u001b[2A\u001b[10;3H\u001b[2J\u001b[?25ldone'],
      ['character sets', '\u001b(B\u001b=done\u001b7\u001b8'],
      ['device strings', '\u001bPq#0;2;0\u001b\\done'],
      ['other controls', '\0\u0001do\u0007n\u007fe\u0085']
    ])('drops %s', (_, given) => {
      expect(printed(given).text).toBe('done');
    });

    it('is not swallowed by a title that never ends', () => {
      expect(printed('\u001b]0;title\nshown').text).toBe('\nshown');
    });

    it('is the same however it was cut', () => {
      const whole =
        'a\u001b[1;31mred\u001b[0m\r\n\u001b]0;t\u0007b\bc\r\u001b[K' +
        '\u001b[38;2;1;2;3mdeep\u001b[m\u001b[48:5:200mx\n';
      const expected = runs(printed(whole));
      expect(runs(printed(...whole))).toEqual(expected);
    });
  });

  describe('colours', () => {
    const style = (codes: string) => printed(`\u001b[${codes}mx`).open[0].style;

    it.each([
      ['31', { foreground: 1 }],
      ['92', { foreground: 10 }],
      ['44', { background: 4 }],
      ['103', { background: 11 }],
      [
        '1;3;4;7',
        { isBold: true, isItalic: true, isUnderlined: true, isInverse: true }
      ],
      ['2', { isDim: true }],
      ['38;5;9', { foreground: 9 }],
      ['38;5;196', { foreground: 'rgb(255, 0, 0)' }],
      ['38;5;16', { foreground: 'rgb(0, 0, 0)' }],
      ['48;5;244', { background: 'rgb(128, 128, 128)' }],
      ['38;2;1;2;3', { foreground: 'rgb(1, 2, 3)' }],
      ['38:2:1:2:3', { foreground: 'rgb(1, 2, 3)' }],
      ['38:2::1:2:3', { foreground: 'rgb(1, 2, 3)' }],
      ['48;2;1;2;3;1', { background: 'rgb(1, 2, 3)', isBold: true }],
      ['4:3', { isUnderlined: true }],
      ['58;2;1;2;3', {}],
      ['31;0', {}],
      ['31;', {}],
      ['31;39', {}],
      ['1;2;22', {}],
      ['3;4;7;23;24;27', {}],
      ['41;49', {}],
      ['?31', {}],
      ['>4;1', {}]
    ])('%s', (codes, expected) => {
      expect(style(codes)).toEqual(expected);
    });

    it.each(['38;2;999;0;0', '38;5;256', '38;5', '38', '38;2;1'])(
      'ignores %s, which is none',
      codes => {
        expect(style(codes)).toEqual({});
      }
    );

    it('never hides text', () => {
      expect(style('8')).toEqual({});
    });

    it('are those of what was written last', () => {
      const text = printed('\u001b[31mabc\r\u001b[32mX\u001b[0m\n');
      expect(runs(text)).toEqual([
        { text: 'X', style: { foreground: 2 } },
        { text: 'bc\n', style: { foreground: 1 } }
      ]);
    });

    it('share a run where they are the same', () => {
      const text = printed('\u001b[31ma\u001b[0m\u001b[31mb\nc\n');
      expect(runs(text)).toEqual([
        { text: 'ab\nc\n', style: { foreground: 1 } }
      ]);
    });
  });

  describe('what is too long', () => {
    it('loses its start, at the end of a line', () => {
      const text = new AnsiText();
      for (let count = 0; count < 5000; count++) {
        text.append(`${count} ${'x'.repeat(90)}\n`);
      }
      text.append('the end');
      expect(text.isCut).toBe(true);
      expect(text.text.length).toBeGreaterThan(190_000);
      expect(text.text.length).toBeLessThan(300_000);
      expect(text.text).toMatch(/^\d+ x/);
      expect(text.text.endsWith('\nthe end')).toBe(true);
    });

    it('is bounded without any line end, and nothing is lost before', () => {
      const text = new AnsiText();
      const line = 'y'.repeat(150_000);
      text.append(line);
      expect(text.text).toBe(line);
      expect(text.isCut).toBe(false);
      for (let count = 0; count < 10; count++) {
        text.append(line);
      }
      expect(text.text.length).toBeLessThan(300_000);
    });

    it('has few runs, whatever its colours', () => {
      const text = new AnsiText();
      for (let count = 0; count < 100_000; count++) {
        text.append(`\u001b[3${count % 8}mx${count % 80 ? '' : '\n'}`);
      }
      expect(runs(text).length).toBeLessThan(30_000);
    });

    it('does not change what is complete', () => {
      const text = new AnsiText();
      text.append('line\n'.repeat(640));
      const before = text.blocks.map(block => JSON.stringify(block));
      text.append('\u001b[31mline\n'.repeat(64));
      const after = text.blocks.map(block => JSON.stringify(block));
      expect(after.slice(0, before.length)).toEqual(before);
      expect(after.length).toBeGreaterThan(before.length);
    });
  });

  it('takes whatever comes', () => {
    const random = new Random(7);
    const letters = [
      '\u001b',
      '[',
      ']',
      ';',
      '3',
      '8',
      'm',
      'K',
      '\r',
      '\n',
      '\b',
      'x',
      '\u009b',
      ':',
      '\u0007'
    ];
    for (let round = 0; round < 200; round++) {
      const text = new AnsiText();
      for (let count = 0; count < 200; count++) {
        text.append(random.pick(letters));
      }
      expect(text.text).not.toMatch(/[^\P{Cc}\n]/u);
    }
  });
});
