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

import { CommandIDs } from '../commands';
import { ISessions } from '../tokens';

/** Replaces a transcript by what its agent tells. */
export const reloading: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-acp-bridge:reloading',
  description: 'Reloads sessions from their agents.',
  autoStart: true,
  requires: [ISessions],
  optional: [ICommandPalette, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    sessions: ISessions,
    palette: ICommandPalette | null,
    translator: ITranslator | null
  ): void => {
    const trans = (translator ?? nullTranslator).load('jupyter-acp-bridge');
    const command = CommandIDs.reloadSession;
    app.commands.addCommand(command, {
      label: trans.__('Reload the Agent Session from Its Agent…'),
      caption: trans.__(
        'Replace what is written down of a session by what its agent knows'
      ),
      describedBy: {
        args: {
          type: 'object',
          properties: {
            id: {
              type: 'string',
              description: trans.__(
                'The id of the session; the one in the side panel if left out'
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
            'What the agent remembers takes the place of the whole transcript. Changes can then no longer be undone here, and what only Jupyter knows is gone: how questions were answered, what commands printed, what was changed. Files stay as they are.'
          ),
          buttons: [
            Dialog.cancelButton({ label: trans.__('Cancel') }),
            Dialog.warnButton({ label: trans.__('Reload') })
          ]
        });
        if (button.accept) {
          await sessions
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
