// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { IAcpConnection } from '../api/connection';
import type { DocumentAccess } from '../documents/access';
import type { DocumentShower } from '../documents/show';
import { ErrorCode, Method } from '../protocol';

type IServer = Pick<DocumentAccess | DocumentShower, 'answer'>;

/** Lets agents read, change and show documents, as the user watches. */
export const documents: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-acp-bridge:documents',
  description: 'Reads, changes and shows documents in place for agents.',
  autoStart: true,
  requires: [IAcpConnection, IDocumentManager],
  optional: [ITranslator],
  activate: (
    app: JupyterFrontEnd,
    connection: IAcpConnection,
    manager: IDocumentManager,
    translator: ITranslator | null
  ): void => {
    const trans = (translator ?? nullTranslator).load('jupyter_acp_bridge');
    const serve = (methods: string[], load: () => Promise<IServer>): void => {
      let loaded: Promise<IServer> | null = null;
      for (const method of methods) {
        connection.addRequestHandler(method, request => {
          loaded ??= load();
          loaded.then(
            server => server.answer(request),
            (error: Error) => {
              loaded = null;
              request.fail(ErrorCode.internal, error.message);
            }
          );
        });
      }
    };
    serve(
      [Method.documentRead, Method.documentWrite, Method.documentSave],
      async () => {
        const { DocumentAccess } = await import('../documents/access');
        return new DocumentAccess({ manager, trans });
      }
    );
    serve([Method.documentShow], async () => {
      const { DocumentShower } = await import('../documents/show');
      return new DocumentShower({ manager, shell: app.shell, trans });
    });
  }
};
