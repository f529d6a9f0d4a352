// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import type { DocumentAccess } from '../documents/access';
import { ErrorCode, Method } from '../protocol';
import { IAcpConnection } from '../tokens';

/** Lets agents read and change what is open, as the user watches. */
export const documents: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-acp-bridge:documents',
  description: 'Reads and changes open documents in place for agents.',
  autoStart: true,
  requires: [IAcpConnection, IDocumentManager],
  optional: [ITranslator],
  activate: (
    _: JupyterFrontEnd,
    connection: IAcpConnection,
    manager: IDocumentManager,
    translator: ITranslator | null
  ): void => {
    const trans = (translator ?? nullTranslator).load('jupyter-acp-bridge');
    let loaded: Promise<DocumentAccess> | null = null;
    const load = async (): Promise<DocumentAccess> => {
      const { DocumentAccess } = await import('../documents/access');
      return new DocumentAccess({ manager, trans });
    };
    for (const method of [
      Method.documentRead,
      Method.documentWrite,
      Method.documentSave
    ]) {
      connection.addRequestHandler(method, request => {
        loaded ??= load();
        loaded.then(
          access => access.answer(request),
          (error: Error) => {
            loaded = null;
            request.fail(ErrorCode.internal, error.message);
          }
        );
      });
    }
  }
};
