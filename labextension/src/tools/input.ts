// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { hunks } from '../diff/hunks';
import { type IToolCall, placesOf } from './call';

/** Fields whose text is what would be run, so that it needs no name. */
const RUN = ['command', 'code'];

/** Names of fields that say what would be done, or where: these are always told. */
const NAMING =
  /(args?|argv|cmd|code|commands?|cwd|dir|directory|env|files?|folder|host|line|paths?|program|script|shell|ur[il]s?)$/i;

/** Names of fields that say where, and nothing else. */
const PLACE = /(^|_)(file|path|uri)$|Path$/;

/** Nothing but code, in the marks that Markdown has for it, and maybe its cell. */
const FENCED = /^(?:Cell (\d+):\n+)?(`{3,})([\w+#-]*)\n([^]*)\n\2\n?$/;

/**
 * What a tool would be called with, as far as the call's content does not tell
 * it; empty if that tells everything.
 */
export function inputText({
  kind,
  content,
  locations,
  rawInput
}: Pick<IToolCall, 'kind' | 'content' | 'locations' | 'rawInput'>): string {
  if (isEmpty(rawInput)) {
    return '';
  }
  const isNew = (text: string): boolean => !isAll(content, text);
  const places = new Set<unknown>(
    placesOf({ content, locations }).map(({ path }) => path)
  );
  const fields =
    typeof rawInput === 'object' && !Array.isArray(rawInput)
      ? Object.entries(rawInput as object).filter(
          ([key, value]) => !(PLACE.test(key) && places.has(value))
        )
      : [];
  const isRun = ([key, value]: [string, unknown]): boolean =>
    RUN.includes(key) && typeof value === 'string' && value !== '';
  const runs = fields.filter(isRun).map(([, value]) => value as string);
  if (!runs.length) {
    // A change beside a command is not what the command does.
    const shown = kind === 'execute' ? new Set() : textsOfDiffs(content);
    const others = fields.filter(
      ([key, value]) =>
        NAMING.test(key) ||
        typeof value !== 'string' ||
        !shown.has(withoutEnd(value))
    );
    // A diff is what an edit's input comes to; whatever else there is has to be seen.
    if (typeof rawInput === 'object' && !Array.isArray(rawInput)) {
      const hasDiff = content.some(part => part.type === 'diff');
      return (hasDiff ? others : fields).map(described).join('\n');
    }
    const text = asText(rawInput, 2);
    return isNew(text) ? text : '';
  }
  const others = fields.filter(field => !isRun(field) && !isEmpty(field[1]));
  return [...runs.filter(isNew), ...others.map(described)].join('\n');
}

/** Whether a text is there already, and nothing else in which it could be missed. */
function isAll(content: IToolCall['content'], text: string): boolean {
  const [part, ...others] = content;
  if (
    others.length > 0 ||
    part?.type !== 'content' ||
    part.content.type !== 'text'
  ) {
    return false;
  }
  const told = part.content.text;
  return [told, codeIn(told)?.code ?? told]
    .map(withoutEnd)
    .includes(withoutEnd(text));
}

/**
 * What the diffs show whole: both texts of each, and what is taken out and put
 * in. What they leave as it is may be far from anything that is seen.
 */
function textsOfDiffs(content: IToolCall['content']): ReadonlySet<string> {
  const texts = content.flatMap(part => {
    if (part.type !== 'diff' || typeof part.newText !== 'string') {
      return [];
    }
    const { oldText, newText } = part;
    const [before, after] = [lines(oldText ?? ''), lines(newText)];
    const found = hunks(before, after);
    return found.length === 0
      ? []
      : [
          oldText ?? '',
          newText,
          ...found.flatMap(hunk => [
            before.slice(hunk.start, hunk.end).join('\n'),
            after.slice(hunk.newStart, hunk.newEnd).join('\n')
          ])
        ];
  });
  return new Set(texts.map(withoutEnd));
}

function lines(text: string): string[] {
  return withoutEnd(text).split('\n');
}

/** A text without the line ends after it. */
function withoutEnd(text: string): string {
  let end = text.length;
  while (text[end - 1] === '\n') {
    end--;
  }
  return text.slice(0, end);
}

export interface ICode {
  readonly code: string;
  /** Empty if it is not told. */
  readonly language: string;
  /** The number of its cell, if it is told. */
  readonly cell?: string;
}

/** The code that a text is, if it is nothing else. */
export function codeIn(text: string): ICode | null {
  const [, cell, , language, code] = FENCED.exec(text) ?? [];
  return code === undefined ? null : { code, language, cell };
}

function described([key, value]: [string, unknown]): string {
  const lines = key === 'env' ? variables(value) : asText(value);
  // No line of a value may look like another field.
  return lines.includes('\n')
    ? `${key}:\n${lines.replace(/^/gm, '  ')}`
    : `${key}: ${lines}`;
}

/** Environment variables, of which some agents send a list. */
function variables(value: unknown): string {
  if (typeof value !== 'object' || value === null) {
    return asText(value);
  }
  const pairs = Array.isArray(value)
    ? (value as ({ name?: unknown; value?: unknown } | null)[]).map(
        each => [each?.name, each?.value] as const
      )
    : Object.entries(value as Record<string, unknown>);
  return pairs.every(([name]) => typeof name === 'string')
    ? pairs.map(([name, text]) => `${String(name)}=${asText(text)}`).join('\n')
    : asText(value);
}

/** A value of an agent to be read: text as it is, anything else as JSON. */
export function asText(value: unknown, indent?: number): string {
  return typeof value === 'string'
    ? value
    : (JSON.stringify(value, null, indent) ?? '');
}

function isEmpty(value: unknown): boolean {
  return (
    value === undefined ||
    value === null ||
    value === '' ||
    (typeof value === 'object' && !Object.keys(value).length)
  );
}
