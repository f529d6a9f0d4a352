// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ISessionContextDialogs } from '@jupyterlab/apputils';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { ICodeActions } from '../api/workspace';
import type { CodeActions } from '../workspace/codeactions';

/** Lets code go from the chat into notebooks and files. */
export const codeActions: JupyterFrontEndPlugin<ICodeActions> = {
  id: 'jupyter-acp-bridge:code-actions',
  description: 'Inserts code from the chat into notebooks and files.',
  autoStart: true,
  provides: ICodeActions,
  requires: [INotebookTracker],
  optional: [ISessionContextDialogs, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    tracker: INotebookTracker,
    dialogs: ISessionContextDialogs | null,
    translator: ITranslator | null
  ): ICodeActions => {
    const trans = (translator ?? nullTranslator).load('jupyter_acp_bridge');
    const load = async (): Promise<CodeActions> => {
      const { CodeActions } = await import('../workspace/codeactions');
      return new CodeActions({
        tracker,
        current: () => app.shell.currentWidget,
        dialogs: dialogs ?? undefined,
        trans
      });
    };
    return {
      insert: async code => (await load()).insert(code),
      replace: async code => (await load()).replace(code),
      run: async code => (await load()).run(code)
    };
  }
};
