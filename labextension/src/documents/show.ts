// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { CodeEditor } from '@jupyterlab/codeeditor';
import type { IDocumentManager } from '@jupyterlab/docmanager';
import type { IDocumentWidget } from '@jupyterlab/docregistry';
import type { Notebook } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import { type Message, MessageLoop } from '@lumino/messaging';
import type { DockPanel, Widget } from '@lumino/widgets';

import type { IIncomingRequest } from '../api/connection';
import { RpcError } from '../connection/rpc';
import { ErrorCode, type IDocumentShown } from '../protocol';

interface IShowParams {
  path: string;
  /** Counted from 1. */
  line: number | null;
  cellId: string | null;
}

type INotebookView = Pick<
  Notebook,
  'widgets' | 'activeCellIndex' | 'deselectAll' | 'scrollToItem'
>;

/**
 * Shows documents for agents. The user may be typing somewhere: what has the
 * focus keeps it, and is not hidden by what is shown.
 */
export class DocumentShower {
  constructor(private readonly _options: DocumentShower.IOptions) {}

  /** Answer `_jupyter/document/show`, when it is shown. */
  async answer(request: IIncomingRequest): Promise<void> {
    try {
      request.respond(await this._show(this._check(request.params)));
    } catch (error) {
      const code = error instanceof RpcError ? error.code : ErrorCode.internal;
      request.fail(
        code,
        error instanceof Error ? error.message : String(error)
      );
    }
  }

  private async _show(params: IShowParams): Promise<IDocumentShown> {
    const { manager, trans } = this._options;
    const { path, line, cellId } = params;
    const widget = manager.findWidget(path, null) ?? (await this._open(path));
    const visible = reveal(widget);
    await manager.contextForWidget(widget)?.ready;
    await widget.revealed;
    if (cellId !== null && !goToCell(widget, cellId)) {
      throw this._invalid(trans.__('There is no cell %1 in %2.', cellId, path));
    }
    if (line !== null && !goToLine(widget, line)) {
      throw this._invalid(
        trans.__('%1 is shown, but not as text with lines.', path)
      );
    }
    return { visible };
  }

  private async _open(path: string): Promise<IDocumentWidget> {
    const { manager, shell, trans } = this._options;
    // JupyterLab would tell its user, in a dialog, that there is no such file.
    await manager.services.contents.get(path, { content: false });
    const inUse = [...shell.widgets('main')].find(hasFocus);
    const widget = manager.openOrReveal(path, 'default', undefined, {
      activate: false,
      // A tab of the same group would stay behind what the user types in.
      ...(inUse && { mode: 'split-right', ref: inUse.id })
    });
    if (!widget) {
      throw new RpcError(
        trans.__('%1 could not be opened in this window.', path),
        ErrorCode.internal
      );
    }
    dropActivation(widget);
    return widget;
  }

  private _check(params: unknown): IShowParams {
    const given = (params ?? {}) as Record<string, unknown>;
    const { path, line = null, cellId = null } = given;
    if (
      typeof path !== 'string' ||
      !(line === null || typeof line === 'number') ||
      !(cellId === null || typeof cellId === 'string')
    ) {
      throw this._invalid(
        this._options.trans.__('The parameters are missing or wrong.')
      );
    }
    return { path, line, cellId };
  }

  private _invalid(words: string): RpcError {
    return new RpcError(words, ErrorCode.invalidParams);
  }
}

export namespace DocumentShower {
  export interface IOptions {
    manager: IDocumentManager;
    shell: Pick<JupyterFrontEnd.IShell, 'widgets'>;
    trans: TranslationBundle;
  }
}

/**
 * Keep a document that was just opened from taking the focus: JupyterLab 4.4 activates it whatever the
 * options say, by a message that has not been delivered yet.
 */
function dropActivation(widget: Widget): void {
  const isOther = (_: unknown, { type }: Message): boolean =>
    type !== 'activate-request';
  MessageLoop.installMessageHook(widget, isOther);
  MessageLoop.flush();
  MessageLoop.removeMessageHook(widget, isOther);
}

/** Bring the tab of a document to the front, unless that hides what has the focus. */
function reveal(widget: Widget): boolean {
  // By what it can: Notebook shows its documents in something else.
  const dock = widget.parent as Partial<DockPanel> | null;
  if (dock?.selectWidget && dock.tabBars) {
    const bars = [...dock.tabBars()];
    const bar = bars.find(each => each.titles.includes(widget.title));
    const inFront = bar?.currentTitle?.owner;
    if (inFront && inFront !== widget && hasFocus(inFront)) {
      return false;
    }
    dock.selectWidget(widget);
  }
  return widget.isVisible;
}

/** Show a cell in the middle; false if there is no such cell. */
function goToCell(widget: IDocumentWidget, id: string): boolean {
  const notebook = widget.content as Widget & Partial<INotebookView>;
  const index = notebook.widgets?.findIndex(({ model }) => model.id === id);
  if (index === undefined || index < 0) {
    return false;
  }
  if (!hasFocus(widget)) {
    notebook.deselectAll?.();
    notebook.activeCellIndex = index;
  }
  // It is over when the user scrolls; nobody needs to wait for that.
  notebook.scrollToItem?.(index, 'smart').catch(() => undefined);
  return true;
}

/** Show a line, with the cursor on it; false if there are no lines. */
function goToLine(widget: IDocumentWidget, line: number): boolean {
  const { editor } = widget.content as Widget & { editor?: CodeEditor.IEditor };
  if (!editor) {
    return false;
  }
  const position = { line: Math.min(line, editor.lineCount) - 1, column: 0 };
  if (!hasFocus(widget)) {
    editor.setCursorPosition(position);
  }
  editor.revealPosition(position);
  return true;
}

function hasFocus({ node }: Widget): boolean {
  return node.contains(document.activeElement);
}
