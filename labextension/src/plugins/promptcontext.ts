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
import { EDITOR_CONTEXT } from '../prompt/carrying';
import type { Sessions } from '../sessions/sessions';
import { ISessionStore } from '../sessions/token';
// A few kilobytes that both the chat and the commands of cells need.
// eslint-disable-next-line jupyter/prefer-lazy-imports
import { PromptContext } from '../workspace/promptcontext';

/** Provides what messages can refer to, and suggests it while they are typed. */
export const promptContext: JupyterFrontEndPlugin<IPromptContext> = {
  id: 'jupyter-acp-bridge:prompt-context',
  description: 'Lets prompts refer to files, cells and outputs.',
  autoStart: true,
  provides: IPromptContext,
  requires: [
    IAcpConnection,
    ISessionStore,
    IWorkspaceTracker,
    IDocumentManager
  ],
  optional: [ITranslator],
  activate: (
    app: JupyterFrontEnd,
    connection: IAcpConnection,
    sessions: Sessions,
    tracker: IWorkspaceTracker,
    manager: IDocumentManager,
    translator: ITranslator | null
  ): IPromptContext => {
    const { contents, serverSettings } = app.serviceManager;
    const context = new PromptContext({
      tracker,
      manager,
      contents,
      api: new AcpApi(serverSettings),
      rootDir: () => connection.server.rootDir,
      trans: (translator ?? nullTranslator).load('jupyter_acp_bridge')
    });
    const { contexts, suggestions } = sessions;
    contexts.add({
      id: EDITOR_CONTEXT,
      changed: context.changed,
      // Nothing that is open here is told elsewhere.
      offer: ({ info }) => (info.remote ? null : context.offer()),
      // The server adds it, with what it knows itself.
      attachments: () => Promise.resolve([])
    });
    suggestions.add({
      id: 'cells',
      trigger: '@',
      suggest: query => Promise.resolve(context.cells(query))
    });
    suggestions.add({
      id: 'open-documents',
      trigger: '@',
      suggest: query => Promise.resolve(context.documents(query))
    });
    suggestions.add({
      id: 'files',
      trigger: '@',
      suggest: query => context.files(query)
    });
    return context;
  }
};
