// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

/** A stretch of text, or a character that nobody would see. */
export interface IPart {
  readonly text: string;
  readonly isHidden: boolean;
}

/**
 * Characters that change what is read without being seen: directions of
 * writing, spaces without width, tags and other selectors, controls.
 */
const HIDDEN = new RegExp(
  [
    // A carriage return is part of a line's end, or writes over what was there.
    '\\r(?!\\n|$)',
    '[\\0-\\x08\\v\\f\\x0e-\\x1f\\x7f-\\x9f]',
    '[\\u2028\\u2029\\ufff9-\\ufffb]',
    // Everything that has no looks of its own, but for what chooses those of emoji.
    '(?![\\ufe00-\\ufe0f])\\p{Default_Ignorable_Code_Point}'
  ].join('|'),
  'gu'
);

/** An emoji may be several that are joined by a character without width. */
const JOINED = /\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})*$/u;
const JOINER = '\u200d';

/** Take a text apart into what is seen and what is not. */
export function hiddenParts(text: string): IPart[] {
  const parts: IPart[] = [];
  let end = 0;
  for (const match of text.matchAll(HIDDEN)) {
    const [character] = match;
    const before = text.slice(end, match.index);
    const after = text.slice(match.index + character.length);
    if (
      character === JOINER &&
      JOINED.test(before) &&
      /^\p{Extended_Pictographic}/u.test(after)
    ) {
      continue;
    }
    if (before) {
      parts.push({ text: before, isHidden: false });
    }
    parts.push({ text: name(character), isHidden: true });
    end = match.index + character.length;
  }
  if (end < text.length) {
    parts.push({ text: text.slice(end), isHidden: false });
  }
  return parts;
}

/** The text with every such character named where it stands. */
export function withNames(text: string): string {
  return hiddenParts(text)
    .map(part => (part.isHidden ? `⟦${part.text}⟧` : part.text))
    .join('');
}

export function hasHidden(text: string): boolean {
  return hiddenParts(text).some(part => part.isHidden);
}

function name(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}
