// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import { useChat } from './context';
import { hasHidden } from './hidden';
import { Visible } from './visible';

interface ICodeProps {
  text: string;
  /** By any of its names; a notebook's is rarely told, and mostly this one. */
  language?: string;
}

/** Code letter by letter, in colours unless something hides in it. */
export const Code = React.memo(function Code({
  text,
  language = 'python'
}: ICodeProps): JSX.Element {
  const { languages, trans } = useChat();
  const host = React.useRef<HTMLElement>(null);
  const hides = hasHidden(text);
  React.useLayoutEffect(() => {
    const node = host.current;
    if (!node) {
      return;
    }
    node.textContent = text;
    let isGone = false;
    const coloured = document.createElement('code');
    languages
      .highlight(text, languages.findBest(language), coloured)
      .then(() => {
        if (!isGone) {
          node.replaceChildren(...coloured.childNodes);
        }
      })
      .catch(error =>
        console.warn('jupyter-acp: code could not be coloured', error)
      );
    return () => {
      isGone = true;
    };
  }, [languages, text, language, hides]);
  return (
    <pre
      className="jp-acp-Text jp-acp-CodeText"
      tabIndex={0}
      aria-label={trans.__('Code')}
    >
      {hides ? <Visible text={text} /> : <code ref={host} />}
    </pre>
  );
});
