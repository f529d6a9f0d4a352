// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { MergeView, unifiedMergeView } from '@codemirror/merge';
import { EditorState, type Extension } from '@codemirror/state';
import { Decoration, EditorView, lineNumbers } from '@codemirror/view';
import {
  type IEditorLanguageRegistry,
  jupyterTheme
} from '@jupyterlab/codemirror';
import type { TranslationBundle } from '@jupyterlab/translation';
import { DisposableDelegate, type IDisposable } from '@lumino/disposable';

/** What is shown as what became of what, and where. */
export interface IDiffOptions {
  host: HTMLElement;
  oldText: string;
  newText: string;
  /** The lines that they begin with, counted from 1. */
  oldLine?: number;
  newLine?: number;
  language: Extension;
  /** For whoever cannot see it. */
  label: string;
  /** Leave out what is far from any change; a click brings it back. */
  isFolded?: boolean;
  trans: TranslationBundle;
}

/** How editors highlight a file, or a piece of code in a language. */
export async function loadLanguage(
  languages: IEditorLanguageRegistry,
  path: string,
  name?: string
): Promise<Extension> {
  const spec = name
    ? languages.findBest(name, false)
    : languages.findByFileName(path.split('/').at(-1) ?? path);
  const loaded = spec && (await languages.getLanguage(spec));
  return loaded?.support ?? [];
}

/** One editor, in which what is gone stands above what came. */
export function showUnified(options: IDiffOptions): IDisposable {
  const { host, oldText, newText, oldLine, newLine } = options;
  const isOneSided = !oldText || !newText;
  const view = new EditorView({
    parent: host,
    doc: newText || oldText,
    extensions: [
      common(options, newText ? newLine : oldLine),
      isOneSided
        ? wholly(newText ? 'cm-insertedLine' : 'cm-deletedLine')
        : unifiedMergeView({
            original: oldText,
            mergeControls: false,
            collapseUnchanged: folding(options)
          })
    ]
  });
  return new DisposableDelegate(() => view.destroy());
}

/** Mark every line: there is nothing to compare them with. */
function wholly(name: string): Extension {
  const mark = Decoration.line({ class: name });
  return EditorView.decorations.of(view =>
    Decoration.set(
      view.visibleRanges.flatMap(({ from, to }) => {
        const marks = [];
        for (let at = from; at <= to;) {
          const line = view.state.doc.lineAt(at);
          marks.push(mark.range(line.from));
          at = line.to + 1;
        }
        return marks;
      })
    )
  );
}

/** Two editors side by side. */
export function showSideBySide(options: IDiffOptions): IDisposable {
  const { host, oldText, newText, oldLine, newLine } = options;
  const view = new MergeView({
    parent: host,
    a: { doc: oldText, extensions: common(options, oldLine) },
    b: { doc: newText, extensions: common(options, newLine) },
    collapseUnchanged: folding(options)
  });
  return new DisposableDelegate(() => view.destroy());
}

function folding({
  isFolded
}: IDiffOptions): { margin: number; minSize: number } | undefined {
  return isFolded ? { margin: 3, minSize: 6 } : undefined;
}

function common(
  { language, label, trans }: IDiffOptions,
  firstLine = 1
): Extension {
  return [
    lineNumbers({ formatNumber: number => String(number + firstLine - 1) }),
    EditorState.readOnly.of(true),
    EditorView.editable.of(false),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ tabindex: '0', 'aria-label': label }),
    EditorState.phrases.of({
      '$ unchanged lines': trans.__('$ unchanged lines')
    }),
    jupyterTheme,
    language
  ];
}
