// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { CodeEditor } from '@jupyterlab/codeeditor';
import type { IDocumentManager } from '@jupyterlab/docmanager';
import type { IDocumentWidget } from '@jupyterlab/docregistry';
import type { Widget } from '@lumino/widgets';

import type { IDocumentOpener } from '../api/workspace';

/** Opens what agents name by its place on the server's disk. */
export class DocumentOpener implements IDocumentOpener {
  constructor(private readonly _options: DocumentOpener.IOptions) {}

  find(target: string, folder?: string): IDocumentOpener.IPlace | null {
    const root = this._options.rootDir()?.replace(/\/+$/, '');
    const named = parse(target);
    if (root === undefined || named === null) {
      return null;
    }
    const absolute = withoutDots(
      named.path.startsWith('/')
        ? named.path
        : `${folder ?? root}/${named.path}`
    );
    return absolute.startsWith(`${root}/`)
      ? { ...named, path: absolute.slice(root.length + 1) }
      : null;
  }

  async open({ path, line }: IDocumentOpener.IPlace): Promise<void> {
    const widget = this._options.manager.openOrReveal(path);
    if (widget && line !== undefined) {
      await widget.revealed;
      goTo(widget, line - 1);
    }
  }
}

export namespace DocumentOpener {
  export interface IOptions {
    manager: IDocumentManager;
    /** The folder that contents paths begin at, once the server has told. */
    rootDir: () => string | undefined;
  }
}

/** The line at the end of a path, in the ways that agents write it. */
const LINE = /(?:#L|#line=|:)(\d+)(?:[-,:]L?\d+)?$/;

/** Take a path or a URI apart; null if it is something else. */
function parse(target: string): IDocumentOpener.IPlace | null {
  const found = LINE.exec(target);
  const line = found ? Number(found[1]) : undefined;
  const rest = found ? target.slice(0, found.index) : target.split('#', 1)[0];
  if (!rest) {
    return null;
  }
  if (!/^[a-z][a-z0-9+.-]*:/i.test(rest)) {
    return { path: safely(decodeURIComponent, rest) ?? rest, line };
  }
  const path = rest.startsWith('file:')
    ? safely(uri => decodeURIComponent(new URL(uri).pathname), rest)
    : null;
  return path ? { path, line } : null;
}

/** What a path leads to; what lies above the top is the top. */
function withoutDots(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') {
      parts.pop();
    } else if (part && part !== '.') {
      parts.push(part);
    }
  }
  return `/${parts.join('/')}`;
}

function safely(work: (text: string) => string, text: string): string | null {
  try {
    return work(text);
  } catch {
    return null;
  }
}

/** Put the cursor on a line; of a notebook only the file is known. */
function goTo(widget: IDocumentWidget, line: number): void {
  const { editor } = widget.content as Widget & { editor?: CodeEditor.IEditor };
  if (editor && line >= 0) {
    const position = { line: Math.min(line, editor.lineCount - 1), column: 0 };
    editor.setCursorPosition(position);
    editor.revealPosition(position);
    editor.focus();
  }
}
