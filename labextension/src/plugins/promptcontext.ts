// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { IAcpConnection } from '../api/connection';
import { IPromptContext } from '../api/mentions';
import { IWorkspaceTracker } from '../api/workspace';
import { AcpApi } from '../connection/rest';
// A few kilobytes that both the chat and the commands of cells need.
// eslint-disable-next-line jupyter/prefer-lazy-imports
import { PromptContext } from '../workspace/promptcontext';

/** Provides what prompts can refer to. */
export const promptContext: JupyterFrontEndPlugin<IPromptContext> = {
  id: 'jupyter-acp-bridge:prompt-context',
  description: 'Lets prompts refer to files, cells and outputs.',
  autoStart: true,
  provides: IPromptContext,
  requires: [IAcpConnection, IWorkspaceTracker, IDocumentManager],
  optional: [ITranslator],
  activate: (
    app: JupyterFrontEnd,
    connection: IAcpConnection,
    tracker: IWorkspaceTracker,
    manager: IDocumentManager,
    translator: ITranslator | null
  ): IPromptContext => {
    const { contents, serverSettings } = app.serviceManager;
    return new PromptContext({
      tracker,
      manager,
      contents,
      api: new AcpApi(serverSettings),
      rootDir: () => connection.server.rootDir,
      trans: (translator ?? nullTranslator).load('jupyter_acp_bridge')
    });
  }
};
