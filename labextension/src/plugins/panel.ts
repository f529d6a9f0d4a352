// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import {
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { ISessions } from '../tokens';
import { AcpPanel } from '../widgets/panel';

/** The commands of the chat panel. */
export namespace CommandIDs {
  export const open = 'jupyter-acp-bridge:open';
  export const newSession = 'jupyter-acp-bridge:new-session';
}

/** Adds the chat to the right side panel and its commands to the palette. */
export const panel: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-acp-bridge:panel',
  description: 'Adds a side panel in which to talk to agents.',
  autoStart: true,
  requires: [ISessions, IRenderMimeRegistry],
  optional: [ITranslator, ICommandPalette, ILayoutRestorer],
  activate: (
    app: JupyterFrontEnd,
    sessions: ISessions,
    rendermime: IRenderMimeRegistry,
    translator: ITranslator | null,
    palette: ICommandPalette | null,
    restorer: ILayoutRestorer | null
  ): void => {
    const trans = (translator ?? nullTranslator).load('jupyter-acp-bridge');
    const widget = new AcpPanel({ sessions, rendermime, trans });
    app.shell.add(widget, 'right', { rank: 900, type: 'Agents' });
    restorer?.add(widget, widget.id);

    const noArguments = { args: { type: 'object', properties: {} } } as const;
    app.commands.addCommand(CommandIDs.open, {
      label: trans.__('Open the Agent Chat'),
      caption: trans.__('Show the side panel in which to talk to agents'),
      describedBy: noArguments,
      execute: () => app.shell.activateById(widget.id)
    });
    app.commands.addCommand(CommandIDs.newSession, {
      label: trans.__('New Agent Session'),
      caption: trans.__('Start a new session with an agent'),
      describedBy: {
        args: {
          type: 'object',
          properties: {
            agent: {
              type: 'string',
              description: trans.__(
                'The id of the agent; the default agent if left out'
              )
            }
          }
        }
      },
      execute: async args => {
        app.shell.activateById(widget.id);
        await widget.newSession(args.agent as string | undefined);
      }
    });
    for (const command of [CommandIDs.open, CommandIDs.newSession]) {
      palette?.addItem({ command, category: trans.__('Agents') });
    }
  }
};
