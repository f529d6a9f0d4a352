// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IToolCall } from './toolcall';

/** Fields whose text is what would be run, so that it needs no name. */
const RUN = ['command', 'code'];

/**
 * What a tool would be called with, as far as the call's content does not tell
 * it; empty if that tells everything.
 */
export function inputText({
  content,
  rawInput
}: Pick<IToolCall, 'content' | 'rawInput'>): string {
  if (isEmpty(rawInput)) {
    return '';
  }
  const texts = content.flatMap(part =>
    part.type === 'content' && part.content.type === 'text'
      ? [part.content.text]
      : []
  );
  const isNew = (text: string): boolean =>
    !texts.some(each => hasLines(each, text));
  const fields =
    typeof rawInput === 'object' && !Array.isArray(rawInput)
      ? Object.entries(rawInput as object)
      : [];
  const isRun = ([key, value]: [string, unknown]): boolean =>
    RUN.includes(key) && typeof value === 'string' && value !== '';
  const runs = fields.filter(isRun).map(([, value]) => value as string);
  if (!runs.length) {
    const others = fields.filter(field => !isInDiffs(field, content));
    // A diff is what an edit's input comes to; whatever else there is has to be seen.
    const isTold = fields.length > 0 && others.length === 0;
    const text =
      fields.length > others.length
        ? others.map(described).join('\n')
        : asText(rawInput, 2);
    return !isTold && isNew(text) ? text : '';
  }
  const others = fields.filter(field => !isRun(field) && !isEmpty(field[1]));
  return [...runs.filter(isNew), ...others.map(described)].join('\n');
}

/** Whether a field is a text or a place that one of the diffs shows. */
function isInDiffs(
  [, value]: [string, unknown],
  content: IToolCall['content']
): boolean {
  if (typeof value !== 'string') {
    return false;
  }
  return content.some(
    part =>
      part.type === 'diff' &&
      (part.path === value ||
        part.newText.includes(value) ||
        (part.oldText ?? '').includes(value))
  );
}

/** Whole lines only: a short command is easily a part of some word. */
function hasLines(text: string, wanted: string): boolean {
  return `\n${text}\n`.includes(`\n${wanted.replace(/\n+$/, '')}\n`);
}

function described([key, value]: [string, unknown]): string {
  const lines = key === 'env' ? variables(value) : asText(value);
  return `${key}:${lines.includes('\n') ? '\n' : ' '}${lines}`;
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
