// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

/** A text as a Markdown block of code, in a fence that the text itself cannot end. */
export function fenced(text: string, language = ''): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map(s => s.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n+$/, '')}\n${fence}`;
}
