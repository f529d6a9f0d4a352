// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { INotebookCellExecutor } from '@jupyterlab/notebook';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { IAcpConnection } from '../api/connection';
import type { NotebookRunner } from '../documents/run';
import { ErrorCode, Method } from '../protocol';

/** Lets agents run open notebooks and restart their kernels, where the user sees it. */
export const run: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-acp-bridge:run',
  description:
    'Runs cells of open notebooks and restarts their kernels for agents.',
  autoStart: true,
  requires: [IAcpConnection, IDocumentManager, INotebookCellExecutor],
  optional: [ITranslator],
  activate: (
    _: JupyterFrontEnd,
    connection: IAcpConnection,
    manager: IDocumentManager,
    executor: INotebookCellExecutor,
    translator: ITranslator | null
  ): void => {
    const trans = (translator ?? nullTranslator).load('jupyter_acp_bridge');
    let loaded: Promise<NotebookRunner> | null = null;
    const load = async (): Promise<NotebookRunner> => {
      const { NotebookRunner } = await import('../documents/run');
      return new NotebookRunner({
        manager,
        executor,
        trans,
        translator: translator ?? undefined
      });
    };
    for (const method of [Method.notebookRun, Method.notebookRestart]) {
      connection.addRequestHandler(method, request => {
        loaded ??= load();
        loaded.then(
          runner => runner.answer(request),
          (error: Error) => {
            loaded = null;
            request.fail(ErrorCode.internal, error.message);
          }
        );
      });
    }
  }
};
