// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

/** One of the sixteen colours of the theme, or a colour of its own in CSS. */
export type AnsiColor = number | string;

export interface IAnsiStyle {
  readonly foreground?: AnsiColor;
  readonly background?: AnsiColor;
  readonly isBold?: boolean;
  readonly isDim?: boolean;
  readonly isItalic?: boolean;
  readonly isUnderlined?: boolean;
  readonly isInverse?: boolean;
}

export const PLAIN: IAnsiStyle = {};

export function isSame(one: IAnsiStyle, other: IAnsiStyle): boolean {
  return (
    one === other ||
    (one.foreground === other.foreground &&
      one.background === other.background &&
      one.isBold === other.isBold &&
      one.isDim === other.isDim &&
      one.isItalic === other.isItalic &&
      one.isUnderlined === other.isUnderlined &&
      one.isInverse === other.isInverse)
  );
}

type Flag = 'isBold' | 'isDim' | 'isItalic' | 'isUnderlined' | 'isInverse';

const FLAGS: Record<number, Flag | undefined> = {
  1: 'isBold',
  2: 'isDim',
  3: 'isItalic',
  4: 'isUnderlined',
  7: 'isInverse'
};

/** What ends what: weights have one end in common. */
const ENDS: Record<number, (keyof IAnsiStyle)[] | undefined> = {
  22: ['isBold', 'isDim'],
  23: ['isItalic'],
  24: ['isUnderlined'],
  27: ['isInverse'],
  39: ['foreground'],
  49: ['background']
};

/** What the codes that choose colours and weights make of the looks so far. */
export function restyled(style: IAnsiStyle, parameters: string): IAnsiStyle {
  if (!/^[\d;:]*$/.test(parameters)) {
    return style;
  }
  let next: { -readonly [K in keyof IAnsiStyle]: IAnsiStyle[K] } = { ...style };
  const codes = plainCodes(parameters);
  for (let index = 0; index < codes.length; index++) {
    const code = codes[index];
    const flag = FLAGS[code];
    if (code === 0) {
      next = {};
    } else if (flag) {
      next[flag] = true;
    } else if (ENDS[code]) {
      ENDS[code].forEach(each => delete next[each]);
    } else if (code === 38 || code === 48 || code === 58) {
      const isShort = codes[index + 1] === 5;
      const color = isShort
        ? fromPalette(codes[index + 2])
        : rgb(codes.slice(index + 2, index + 5));
      index += isShort ? 2 : 4;
      if (code === 38) {
        next.foreground = color ?? next.foreground;
      } else if (code === 48) {
        next.background = color ?? next.background;
      }
    } else if (isWithin(code, 30)) {
      next.foreground = code - 30;
    } else if (isWithin(code, 40)) {
      next.background = code - 40;
    } else if (isWithin(code, 90)) {
      next.foreground = code - 90 + 8;
    } else if (isWithin(code, 100)) {
      next.background = code - 100 + 8;
    }
  }
  return Object.keys(next).length ? next : PLAIN;
}

function isWithin(code: number, first: number): boolean {
  return code >= first && code < first + 8;
}

/** Colons say the same more exactly: they name kinds of underlines, and leave gaps in colours. */
function plainCodes(parameters: string): number[] {
  return parameters
    .replace(/\b4:0/g, '24')
    .replace(/\b4:\d/g, '4')
    .replace(/([345]8:2):\d*:(\d*:\d*:\d)/g, '$1:$2')
    .split(/[;:]/)
    .map(Number);
}

/** The 256 colours: the theme's own, a cube of six steps a side, and greys. */
function fromPalette(index: number): AnsiColor | undefined {
  if (!(index >= 0 && index <= 255)) {
    return undefined;
  }
  if (index < 16) {
    return index;
  }
  if (index >= 232) {
    const grey = 8 + (index - 232) * 10;
    return rgb([grey, grey, grey]);
  }
  const step = (size: number) => {
    const level = Math.floor((index - 16) / size) % 6;
    return level && 55 + level * 40;
  };
  return rgb([step(36), step(6), step(1)]);
}

function rgb(parts: number[]): string | undefined {
  return parts.length === 3 && parts.every(part => part >= 0 && part <= 255)
    ? `rgb(${parts.join(', ')})`
    : undefined;
}
