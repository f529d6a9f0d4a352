// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IDisposable } from '@lumino/disposable';
import * as React from 'react';

import { useChat } from '../ui/context';
import { withNames } from '../ui/hidden';

/** A last line end that both have would only look like an empty line. */
function shownText(text: string, other: string): string {
  const isPlain = text.endsWith('\n') && (!other || other.endsWith('\n'));
  return withNames(isPlain ? text.slice(0, -1) : text);
}

interface IDiffProps {
  path: string;
  oldText: string;
  newText: string;
  oldLine?: number;
  newLine?: number;
  /** The language, where the file's name does not tell. */
  language?: string;
  layout?: 'unified' | 'side-by-side';
  isFolded?: boolean;
}

/**
 * What became of a text, in an editor that is loaded when it is first needed.
 * Characters that nobody would see are named: somebody may decide by this.
 */
export const Diff = React.memo(function Diff({
  path,
  oldText,
  newText,
  oldLine,
  newLine,
  language,
  layout = 'unified',
  isFolded = false
}: IDiffProps): JSX.Element {
  const { languages, trans } = useChat();
  const host = React.useRef<HTMLDivElement>(null);
  const [problem, setProblem] = React.useState('');

  React.useEffect(() => {
    let shown: IDisposable | null = null;
    let isGone = false;
    const show = async (): Promise<void> => {
      const editors = await import('./editors');
      const loaded = await editors.loadLanguage(languages, path, language);
      if (isGone || !host.current) {
        return;
      }
      const create =
        layout === 'unified' ? editors.showUnified : editors.showSideBySide;
      shown = create({
        host: host.current,
        oldText: shownText(oldText, newText),
        newText: shownText(newText, oldText),
        oldLine,
        newLine,
        language: loaded,
        label: trans.__('Change of %1', path),
        isFolded,
        trans
      });
    };
    show().catch(error => setProblem((error as Error).message));
    return () => {
      isGone = true;
      shown?.dispose();
    };
  }, [
    languages,
    trans,
    path,
    oldText,
    newText,
    oldLine,
    newLine,
    language,
    layout,
    isFolded
  ]);

  return (
    <div ref={host} className={`jp-acp-Diff jp-acp-mod-${layout}`}>
      {problem && (
        <>
          <p>{trans.__('The editor could not be loaded: %1', problem)}</p>
          <PlainTexts oldText={oldText} newText={newText} />
        </>
      )}
    </div>
  );
});

type TextsProps = Pick<IDiffProps, 'oldText' | 'newText'>;

/** The same without an editor. */
export function PlainDiff(props: TextsProps): JSX.Element {
  return (
    <div className="jp-acp-Diff">
      <PlainTexts {...props} />
    </div>
  );
}

function PlainTexts({ oldText, newText }: TextsProps): JSX.Element {
  return (
    <>
      <pre className="jp-acp-mod-removed">{withNames(oldText)}</pre>
      <pre className="jp-acp-mod-added">{withNames(newText)}</pre>
    </>
  );
}
