// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import type { IRenderMime } from '@jupyterlab/rendermime';
import { UUID } from '@lumino/coreutils';

/** Where a block of code begins, in a list, a quote or by itself, and its language. */
const FENCE =
  /(?:(?<!`)`{3,}(?=[^`\r\n]*$)|(?<!~)~{3,}(?!~))[^\S\r\n]*([^\s|]+)/gm;

/** Makes another language of one; nobody can have written it. */
const MARK = `-${UUID.uuid4()}`;

/**
 * A parser draws blocks of some languages, as diagrams, in the page itself:
 * before anything is sanitised, and with all that these fetch. What agents say
 * is code in languages that an editor knows, or plain text.
 *
 * The mark is taken back afterwards: a block may be about such blocks.
 */
export function inertParser(
  usual: IRenderMime.IMarkdownParser | null,
  languages: IEditorLanguageRegistry
): IRenderMime.IMarkdownParser | null {
  const isCode = (name: string): boolean =>
    name.toLowerCase() !== 'mermaid' && languages.findByName(name) !== null;
  return (
    usual && {
      render: async source => {
        const marked = source.replace(FENCE, (start, name: string) =>
          isCode(name) ? start : start + MARK
        );
        return (await usual.render(marked)).replaceAll(MARK, '');
      }
    }
  );
}
