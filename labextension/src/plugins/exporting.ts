// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { IAgents } from '../api/agents';
import { CommandIDs } from '../api/commands';
import type { Sessions } from '../sessions/sessions';
import { ISessionStore } from '../sessions/token';

/** Writes sessions into documents. */
export const exporting: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-acp-bridge:exporting',
  description: 'Exports sessions to markdown and to notebooks.',
  autoStart: true,
  requires: [ISessionStore, IAgents],
  optional: [ITranslator],
  activate: (
    app: JupyterFrontEnd,
    sessions: Sessions,
    agents: IAgents,
    translator: ITranslator | null
  ): void => {
    const trans = (translator ?? nullTranslator).load('jupyter_acp_bridge');
    app.commands.addCommand(CommandIDs.exportSession, {
      label: args =>
        args.format === 'notebook'
          ? trans.__('Export an Agent Session to a Notebook')
          : trans.__('Export an Agent Session to Markdown'),
      caption: trans.__('Write the transcript to a new document'),
      describedBy: {
        args: {
          type: 'object',
          required: ['id', 'format'],
          properties: {
            id: {
              type: 'string',
              description: trans.__('The id of the session')
            },
            format: {
              enum: ['markdown', 'notebook'],
              description: trans.__('The format of the new document')
            }
          }
        }
      },
      execute: async args => {
        const { exportSession } = await import('../sessions/export');
        const path = await exportSession({
          id: args.id as string,
          format: args.format as 'markdown' | 'notebook',
          sessions,
          agents,
          contents: app.serviceManager.contents,
          kernelspecs: app.serviceManager.kernelspecs,
          trans
        });
        await app.commands.execute('docmanager:open', { path });
      }
    });
  }
};
