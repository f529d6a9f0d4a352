// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { IDefaultFileBrowser } from '@jupyterlab/filebrowser';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { IChatPanel } from '../api/chat';
import { CommandIDs } from '../api/commands';
import { remoteIcon } from '../ui/icons';

/** Adds the way to a remote session, from wherever the user is; menus are in the schema. */
export const remote: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-acp-bridge:remote',
  description: 'Starts remote sessions on git repositories.',
  autoStart: true,
  requires: [IChatPanel],
  optional: [IDefaultFileBrowser, ICommandPalette, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    panel: IChatPanel,
    browser: IDefaultFileBrowser | null,
    palette: ICommandPalette | null,
    translator: ITranslator | null
  ): void => {
    const trans = (translator ?? nullTranslator).load('jupyter_acp_bridge');
    const { contents } = app.serviceManager;
    const selected = (): string | undefined =>
      [...(browser?.selectedItems() ?? [])].find(
        item => item.type === 'directory'
      )?.path;
    /** The folder in the file browser; on another drive, there is no file to speak of. */
    const folder = (isSelected: boolean): string => {
      const path =
        (isSelected ? selected() : undefined) ?? browser?.model.path ?? '';
      return contents.driveName(path) === '' ? contents.localPath(path) : '';
    };

    app.commands.addCommand(CommandIDs.newRemoteSession, {
      label: args =>
        args.isSelected
          ? trans.__('New Remote Session for This Folder…')
          : trans.__('New Remote Agent Session…'),
      caption: trans.__(
        'Let an agent work on a copy of a git repository and return a branch'
      ),
      icon: remoteIcon,
      describedBy: {
        args: {
          type: 'object',
          properties: {
            agent: {
              type: 'string',
              description: trans.__(
                'The id of the agent; the default agent if omitted'
              )
            },
            folder: {
              type: 'string',
              description: trans.__(
                'The folder of the repository; the one in the file browser if omitted'
              )
            },
            isSelected: {
              type: 'boolean',
              description: trans.__(
                'Use the folder that is selected in the file browser'
              )
            }
          }
        }
      },
      execute: async args => {
        await panel.newRemoteSession({
          agent: args.agent as string | undefined,
          folder:
            (args.folder as string | undefined) ??
            folder(args.isSelected === true)
        });
      }
    });
    palette?.addItem({
      command: CommandIDs.newRemoteSession,
      category: trans.__('Agents')
    });
  }
};
