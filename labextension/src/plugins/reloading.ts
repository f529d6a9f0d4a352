// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import {
  Dialog,
  ICommandPalette,
  showDialog,
  showErrorMessage
} from '@jupyterlab/apputils';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { CommandIDs } from '../api/commands';
import type { Sessions } from '../sessions/sessions';
import { ISessionStore } from '../sessions/token';

/** Replaces a transcript by what its agent tells. */
export const reloading: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-acp-bridge:reloading',
  description: 'Reloads sessions from their agents.',
  autoStart: true,
  requires: [ISessionStore],
  optional: [ICommandPalette, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    sessions: Sessions,
    palette: ICommandPalette | null,
    translator: ITranslator | null
  ): void => {
    const trans = (translator ?? nullTranslator).load('jupyter_acp_bridge');
    const command = CommandIDs.reloadSession;
    app.commands.addCommand(command, {
      label: trans.__('Reload the Session from the Agent…'),
      caption: trans.__(
        'Replace the transcript of a session with the history from its agent'
      ),
      describedBy: {
        args: {
          type: 'object',
          properties: {
            id: {
              type: 'string',
              description: trans.__(
                'The id of the session; the one in the side panel if omitted'
              )
            }
          }
        }
      },
      isEnabled: args =>
        !sessions.isGuest && (args.id ?? sessions.current) !== null,
      execute: async args => {
        const id = (args.id as string | undefined) ?? sessions.current?.id;
        if (id === undefined) {
          return;
        }
        const { button } = await showDialog({
          title: trans.__('Reload this session from its agent?'),
          body: trans.__(
            'The history from the agent replaces the whole transcript. Data that only Jupyter has is lost: answers to questions, command output and recorded changes, which you can then no longer undo here. Files are not changed.'
          ),
          buttons: [
            Dialog.cancelButton({ label: trans.__('Cancel') }),
            Dialog.warnButton({ label: trans.__('Reload') })
          ]
        });
        if (button.accept) {
          await sessions.archive
            .reload(id)
            .catch((error: Error) =>
              showErrorMessage(trans.__('The session was not reloaded'), error)
            );
        }
      }
    });
    palette?.addItem({ command, category: trans.__('Agents') });
  }
};
