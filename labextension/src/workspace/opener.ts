// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IDocumentManager } from '@jupyterlab/docmanager';
import type { CodeEditor } from '@jupyterlab/codeeditor';
import type { IDocumentWidget } from '@jupyterlab/docregistry';
import type { Widget } from '@lumino/widgets';

import type { IDocumentOpener } from '../tokens';

/** Opens what agents name by its place on the server's disk. */
export class DocumentOpener implements IDocumentOpener {
  constructor(private readonly _options: DocumentOpener.IOptions) {}

  canOpen(path: string): boolean {
    return this._contentsPath(path) !== null;
  }

  async open(path: string, line?: number): Promise<void> {
    const contentsPath = this._contentsPath(path);
    const widget =
      contentsPath === null
        ? undefined
        : this._options.manager.openOrReveal(contentsPath);
    if (widget && line !== undefined) {
      await widget.revealed;
      goTo(widget, line - 1);
    }
  }

  /** What the contents API calls it; null if it is none of its files. */
  private _contentsPath(path: string): string | null {
    const root = this._options.rootDir()?.replace(/\/+$/, '');
    const absolute = pathOf(path);
    if (root === undefined || absolute === null) {
      return null;
    }
    return absolute.startsWith(`${root}/`)
      ? absolute.slice(root.length + 1)
      : null;
  }
}

export namespace DocumentOpener {
  export interface IOptions {
    manager: IDocumentManager;
    /** The folder that contents paths begin at, once the server has told. */
    rootDir: () => string | undefined;
  }
}

function pathOf(path: string): string | null {
  if (!path.startsWith('file:')) {
    return path.startsWith('/') ? path : null;
  }
  try {
    return decodeURIComponent(new URL(path).pathname);
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
