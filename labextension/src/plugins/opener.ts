// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { IDocumentManager } from '@jupyterlab/docmanager';

import { IAcpConnection } from '../api/connection';
import { IDocumentOpener } from '../api/workspace';
import { DocumentOpener } from '../workspace/opener';

/** Shows documents by the paths that agents use. */
export const opener: JupyterFrontEndPlugin<IDocumentOpener> = {
  id: 'jupyter-acp-bridge:opener',
  description: 'Opens the documents that agents name.',
  autoStart: true,
  provides: IDocumentOpener,
  requires: [IAcpConnection, IDocumentManager],
  activate: (
    _: JupyterFrontEnd,
    connection: IAcpConnection,
    manager: IDocumentManager
  ): IDocumentOpener =>
    new DocumentOpener({ manager, rootDir: () => connection.server.rootDir })
};
