// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { CodeEditor } from '@jupyterlab/codeeditor';
import type { CodeMirrorEditor } from '@jupyterlab/codemirror';

import type { IPosition, ISelection, VisibleRange } from '../protocol';

/** Bytes of a selection's text that agents are sent. */
const MAX_SELECTION_BYTES = 4096;

type EditorView = CodeMirrorEditor['editor'];
type Text = EditorView['state']['doc'];

/** The CodeMirror view behind an editor, while there is one. */
export function viewOf(
  editor: CodeEditor.IEditor | null | undefined
): EditorView | null {
  return editor && !editor.isDisposed
    ? ((editor as Partial<CodeMirrorEditor>).editor ?? null)
    : null;
}

export function cursorOf({ state }: EditorView): IPosition {
  return positionAt(state.doc, state.selection.main.head);
}

export function selectionOf({ state }: EditorView): ISelection | undefined {
  const { from, to, empty } = state.selection.main;
  if (empty) {
    return undefined;
  }
  // A character has at least one byte: no more than this can be needed.
  const end = Math.min(to, from + MAX_SELECTION_BYTES + 1);
  const { text, truncated } = firstBytes(
    state.sliceDoc(from, end),
    MAX_SELECTION_BYTES
  );
  return {
    start: positionAt(state.doc, from),
    end: positionAt(state.doc, to),
    text,
    ...(truncated || end < to ? { truncated: true } : {})
  };
}

/** The lines on the screen, of an editor inside of a frame that may clip it. */
export function visibleLines(
  view: EditorView,
  frame: HTMLElement
): VisibleRange | undefined {
  const outer = frame.getBoundingClientRect();
  const inner = view.scrollDOM.getBoundingClientRect();
  const top = Math.max(outer.top, inner.top);
  const bottom = Math.min(outer.bottom, inner.bottom);
  if (bottom <= top) {
    return undefined;
  }
  const lineAt = (height: number): IPosition => {
    const block = view.lineBlockAtHeight(height - view.documentTop);
    return { line: view.state.doc.lineAt(block.from).number - 1, character: 0 };
  };
  return { start: lineAt(top), end: lineAt(bottom - 1) };
}

/** The beginning of a text that fits, in UTF-8, into so many bytes. */
export function firstBytes(
  text: string,
  limit: number
): { text: string; truncated: boolean } {
  let kept = '';
  let bytes = 0;
  for (const character of text) {
    const code = character.codePointAt(0) as number;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (bytes > limit) {
      return { text: kept, truncated: true };
    }
    // Half a surrogate pair has no UTF-8, and parsers refuse its escape.
    kept += code >= 0xd800 && code <= 0xdfff ? '\ufffd' : character;
  }
  return { text: kept, truncated: false };
}

function positionAt(doc: Text, offset: number): IPosition {
  const line = doc.lineAt(offset);
  return { line: line.number - 1, character: offset - line.from };
}
