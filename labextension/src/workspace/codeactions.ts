// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { ISessionContextDialogs } from '@jupyterlab/apputils';
import type { CodeEditor } from '@jupyterlab/codeeditor';
import {
  type INotebookTracker,
  NotebookActions,
  type NotebookPanel
} from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { Widget } from '@lumino/widgets';

import type { ICodeActions } from '../api/workspace';

/** Brings code from the chat to where the user works. */
export class CodeActions implements ICodeActions {
  constructor(private readonly _options: CodeActions.IOptions) {}

  async insert(code: string): Promise<void> {
    const editor = this._editor();
    if (editor) {
      // Behind what is selected: nothing that the user has written goes.
      editor.setCursorPosition(editor.getSelection().end);
      editor.replaceSelection?.(code);
      editor.focus();
      return;
    }
    await this._insertCell(code);
  }

  async replace(code: string): Promise<void> {
    const panel = await this._notebook();
    const cell = panel.content.activeCell;
    if (!cell || cell.model.getMetadata('editable') === false) {
      throw new Error(
        this._options.trans.__('There is no editable cell to replace.')
      );
    }
    // As one step, which one undo takes back.
    cell.model.sharedModel.setSource(code);
    panel.content.activate();
  }

  async run(code: string): Promise<void> {
    const panel = await this._insertCell(code);
    const { dialogs } = this._options;
    await NotebookActions.run(panel.content, panel.sessionContext, dialogs);
  }

  private async _insertCell(code: string): Promise<NotebookPanel> {
    const panel = await this._notebook();
    const { content } = panel;
    NotebookActions.insertBelow(content);
    NotebookActions.changeCellType(content, 'code');
    content.activeCell?.model.sharedModel.setSource(code);
    await content.scrollToItem(content.activeCellIndex, 'smart');
    return panel;
  }

  /** The notebook that the user was in last. */
  private async _notebook(): Promise<NotebookPanel> {
    const { tracker, trans } = this._options;
    const panel = tracker.currentWidget;
    if (!panel) {
      throw new Error(trans.__('No notebook is open. Open a notebook first.'));
    }
    await panel.revealed;
    return panel;
  }

  /** The text file that the user is in, if it is one. */
  private _editor(): CodeEditor.IEditor | null {
    const { content } = (this._options.current() ?? {}) as {
      content?: Widget & { editor?: CodeEditor.IEditor };
    };
    return content?.editor ?? null;
  }
}

export namespace CodeActions {
  export interface IOptions {
    tracker: INotebookTracker;
    /** The widget of the main area that the user is in. */
    current: () => Widget | null;
    dialogs?: ISessionContextDialogs;
    trans: TranslationBundle;
  }
}
