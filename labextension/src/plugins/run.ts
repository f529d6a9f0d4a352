// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { INotebookCellExecutor } from '@jupyterlab/notebook';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import type { CellRunner } from '../documents/run';
import { ErrorCode, Method } from '../protocol';
import { IAcpConnection } from '../tokens';

/** Lets agents run cells of open notebooks, where the user sees it. */
export const run: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-acp-bridge:run',
  description: 'Runs cells of open notebooks for agents.',
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
    const trans = (translator ?? nullTranslator).load('jupyter-acp-bridge');
    let loaded: Promise<CellRunner> | null = null;
    const load = async (): Promise<CellRunner> => {
      const { CellRunner } = await import('../documents/run');
      return new CellRunner({
        manager,
        executor,
        trans,
        translator: translator ?? undefined
      });
    };
    connection.addRequestHandler(Method.notebookRun, request => {
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
};
