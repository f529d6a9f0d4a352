// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import type { ICodeCellModel } from '@jupyterlab/cells';
import { IDefaultFileBrowser } from '@jupyterlab/filebrowser';
import { INotebookTracker, NotebookActions } from '@jupyterlab/notebook';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { bugIcon } from '@jupyterlab/ui-components';

import { IChatPanel } from '../api/chat';
import { IPromptContext } from '../api/mentions';
import { agentIcon } from '../ui/icons';

/** What can be asked from a notebook and from the file browser. */
export namespace ActionIDs {
  export const askAboutCell = 'jupyter-acp-bridge:ask-about-cell';
  export const explainCell = 'jupyter-acp-bridge:explain-cell';
  export const fixError = 'jupyter-acp-bridge:fix-error';
  export const askAboutFile = 'jupyter-acp-bridge:ask-about-file';
}

/** Adds the ways from cells and files to the chat; menus are in the schema. */
export const actions: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-acp-bridge:actions',
  description: 'Asks agents about cells, errors and files.',
  autoStart: true,
  requires: [IChatPanel, IPromptContext],
  optional: [
    INotebookTracker,
    IDefaultFileBrowser,
    ICommandPalette,
    ITranslator
  ],
  activate: (
    app: JupyterFrontEnd,
    panel: IChatPanel,
    context: IPromptContext,
    notebooks: INotebookTracker | null,
    browser: IDefaultFileBrowser | null,
    palette: ICommandPalette | null,
    translator: ITranslator | null
  ): void => {
    const trans = (translator ?? nullTranslator).load('jupyter_acp_bridge');
    const { commands } = app;
    const describedBy = { args: { type: 'object', properties: {} } } as const;
    const category = trans.__('Agents');
    const cell = () => {
      const panel = notebooks?.currentWidget;
      const active = panel?.content.activeCell;
      return panel && active
        ? { path: panel.context.path, model: active.model }
        : null;
    };
    const hasFailed = (): boolean => {
      const model = cell()?.model;
      return (
        model?.type === 'code' &&
        (model as ICodeCellModel).outputs
          .toJSON()
          .some(({ output_type: type }) => type === 'error')
      );
    };
    const attached = () => {
      const active = cell();
      const found = active && context.cell(active.path, active.model.id);
      return found ? [found] : [];
    };
    const ask = (question: IChatPanel.IQuestion): Promise<void> =>
      panel.ask(question);
    const files = (): string[] =>
      [...(browser?.selectedItems() ?? [])]
        .filter(item => item.type !== 'directory')
        .map(item => item.path);

    if (notebooks) {
      commands.addCommand(ActionIDs.askAboutCell, {
        label: trans.__('Ask the Agent about This Cell'),
        caption: trans.__('Attach the cell to a message to the agent'),
        icon: agentIcon,
        describedBy,
        isEnabled: () => cell() !== null,
        execute: () => ask({ attachments: attached() })
      });
      commands.addCommand(ActionIDs.explainCell, {
        label: trans.__('Explain This Cell'),
        caption: trans.__('Ask the agent what the cell does'),
        icon: agentIcon,
        describedBy,
        isEnabled: () => cell() !== null,
        execute: () =>
          ask({
            text: trans.__('Explain this cell.'),
            attachments: attached(),
            isSent: true
          })
      });
      commands.addCommand(ActionIDs.fixError, {
        label: trans.__('Fix This Error'),
        caption: trans.__(
          'Send the cell, its error and the surrounding cells to the agent'
        ),
        icon: bugIcon,
        describedBy,
        isEnabled: hasFailed,
        isVisible: hasFailed,
        execute: () => {
          const failed = cell();
          return ask({
            text: trans.__('This cell fails. Find out why, and fix it.'),
            attachments: failed
              ? context.failure(failed.path, failed.model.id)
              : [],
            isSent: true
          });
        }
      });
    }
    // Whether there is an error to fix changes with the cell and with each run.
    const look = (): void => commands.notifyCommandChanged(ActionIDs.fixError);
    notebooks?.activeCellChanged.connect(look);
    NotebookActions.executed.connect(look);

    if (browser) {
      commands.addCommand(ActionIDs.askAboutFile, {
        label: trans.__('Ask the Agent about This File'),
        caption: trans.__('Attach the selected files to a message'),
        icon: agentIcon,
        describedBy,
        isEnabled: () => files().length > 0,
        execute: () =>
          ask({ attachments: files().map(path => context.file(path)) })
      });
    }
    for (const command of Object.values(ActionIDs)) {
      if (commands.hasCommand(command)) {
        palette?.addItem({ command, category });
      }
    }
  }
};
