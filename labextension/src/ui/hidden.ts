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
    // Everything that has no looks of its own.
    '\\p{Default_Ignorable_Code_Point}',
    // A pattern without dots, and what fills a place in other scripts.
    '\\u2800|\\u{16fe4}|\\u{1d159}'
  ].join('|'),
  'gu'
);

/** An emoji may be several that are joined by a character without width. */
const JOINED = /\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})*$/u;
const JOINER = '\u200d';

/** Right after an emoji, these say whether it is a picture or a letter. */
const CHOOSERS = ['\ufe0e', '\ufe0f'];
const CHOSEN = /(?!\p{ASCII})\p{Emoji}$/u;

/** A digit on a key, which is made of three characters. */
const ON_KEY = /[\d#*]$/;
const KEY = '\u20e3';

/** Nothing that belongs to an emoji is longer. */
const NEAR = 12;

/** Take a text apart into what is seen and what is not. */
export function hiddenParts(text: string): IPart[] {
  const parts: IPart[] = [];
  let end = 0;
  for (const match of text.matchAll(HIDDEN)) {
    const [character] = match;
    const after = match.index + character.length;
    if (
      belongsToEmoji(
        character,
        text.slice(Math.max(end, match.index - NEAR), match.index),
        text.slice(after, after + NEAR)
      )
    ) {
      continue;
    }
    if (end < match.index) {
      parts.push({ text: text.slice(end, match.index), isHidden: false });
    }
    parts.push({ text: name(character), isHidden: true });
    end = after;
  }
  if (end < text.length) {
    parts.push({ text: text.slice(end), isHidden: false });
  }
  return parts;
}

/** Whether a character that is not seen makes one emoji of what is around it. */
function belongsToEmoji(
  character: string,
  before: string,
  after: string
): boolean {
  if (character === JOINER) {
    return JOINED.test(before) && /^\p{Extended_Pictographic}/u.test(after);
  }
  return (
    CHOOSERS.includes(character) &&
    (CHOSEN.test(before) || (ON_KEY.test(before) && after.startsWith(KEY)))
  );
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
