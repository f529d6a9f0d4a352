// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette, showErrorMessage } from '@jupyterlab/apputils';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import {
  type LabIcon,
  closeIcon,
  copyIcon,
  deleteIcon,
  downloadIcon,
  editIcon,
  launchIcon,
  markdownIcon,
  notebookIcon,
  refreshIcon,
  stopIcon
} from '@jupyterlab/ui-components';
import type { CommandRegistry } from '@lumino/commands';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

import { IAgents } from '../api/agents';
import { CommandIDs } from '../api/commands';
import type { AcpPanel } from '../panel/panel';
import { IAcpPanel } from '../panel/token';
import type { ISessionInfo } from '../protocol';
import type { TitlePlace } from '../sessions/renaming';
import { agentIcon, sendIcon } from '../ui/icons';

type Args = ReadonlyPartialJSONObject;

/** Adds what can be done with a session as commands; menus and shortcuts are in the schema. */
export const sessionCommands: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-acp-bridge:session-commands',
  description: 'Adds the commands of agent sessions.',
  autoStart: true,
  requires: [IAcpPanel, IAgents],
  optional: [ICommandPalette, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    panel: AcpPanel,
    agents: IAgents,
    palette: ICommandPalette | null,
    translator: ITranslator | null
  ): void => {
    const trans = (translator ?? nullTranslator).load('jupyter_acp_bridge');
    const { hasMainArea, renaming, sessions } = panel.context;

    /** The element of a session whose menu was opened. */
    const hit = (): DOMStringMap =>
      app.contextMenuHitTest(({ dataset }) => Boolean(dataset.acpSession))
        ?.dataset ?? {};
    // The command palette has the focus itself: what had it before is meant.
    let last: string | undefined;
    document.addEventListener('focusin', ({ target }) => {
      const view = (target as Element).closest<HTMLElement>('[data-acp-view]');
      last = view?.dataset.acpView ?? last;
    });
    const inView = (): string | undefined => {
      const { current } = sessions;
      return last !== undefined && sessions.isInMain(last) ? last : current?.id;
    };
    /** The session that is named, or whose menu is open, or that the person works in. */
    const target = (args: Args): ISessionInfo | undefined => {
      const id =
        (args.id as string | undefined) ??
        (args.isTarget === true ? hit().acpSession : inView());
      return id === undefined ? undefined : sessions.info(id);
    };
    const isOpenIn = (id: string, area: 'side' | 'main'): boolean =>
      sessions.isInMain(id) === (area === 'main');
    const isQuiet = (session: ISessionInfo): boolean =>
      session.state !== 'running' && !session.waiting;

    const args = (
      properties: object = {}
    ): CommandRegistry.ICommandOptions['describedBy'] => ({
      args: {
        type: 'object',
        properties: {
          id: {
            type: 'string',
            description: trans.__(
              'The id of the session; the one in use if omitted'
            )
          },
          isTarget: {
            type: 'boolean',
            description: trans.__('Use the session whose menu is open')
          },
          ...properties
        }
      }
    });

    interface ICommand {
      /** In the menu of a session, and anywhere else. */
      labels: (args: Args) => [menu: string, other: string];
      icon: LabIcon | ((args: Args) => LabIcon);
      properties?: object;
      /** What is told if it fails. */
      failed: string;
      /** Guests may do it, too. */
      isForGuests?: boolean;
      isVisible?: (session: ISessionInfo, args: Args) => boolean;
      isEnabled?: (session: ISessionInfo) => boolean;
      run: (session: ISessionInfo, args: Args) => Promise<unknown>;
    }
    const add = (id: string, command: ICommand): void => {
      const { labels, isEnabled, isVisible } = command;
      const mayDo = command.isForGuests ?? false;
      app.commands.addCommand(id, {
        label: args => labels(args)[args.isTarget === true ? 0 : 1],
        icon: command.icon,
        describedBy: args(command.properties),
        isVisible: args => {
          const session = target(args);
          return (
            (mayDo || !sessions.isGuest) &&
            (!session || (isVisible?.(session, args) ?? true))
          );
        },
        isEnabled: args => {
          const session = target(args);
          return (
            session !== undefined &&
            (mayDo || !sessions.isGuest) &&
            (isEnabled?.(session) ?? true)
          );
        },
        execute: async args => {
          const session = target(args);
          if (session) {
            await command
              .run(session, args)
              .catch((error: Error) => showErrorMessage(command.failed, error));
          }
        }
      });
    };

    add(CommandIDs.renameSession, {
      labels: () => [trans.__('Rename'), trans.__('Rename the Agent Session')],
      icon: editIcon,
      properties: {
        title: {
          type: 'string',
          description: trans.__('The new title; asked for if omitted')
        }
      },
      failed: trans.__('The session was not renamed'),
      run: async ({ id }, args) => {
        if (typeof args.title === 'string') {
          await sessions.archive.rename(id, args.title);
          return;
        }
        const place = args.isTarget === true ? hit().acpPlace : 'header';
        if (place === 'header' && args.isTarget !== true) {
          await app.commands.execute(CommandIDs.openSession, { id });
        }
        renaming.begin(id, (place ?? 'header') as TitlePlace);
      }
    });
    add(CommandIDs.moveSession, {
      labels: args =>
        args.area === 'main'
          ? [
              trans.__('Open in a Tab'),
              trans.__('Open the Agent Session in a Tab')
            ]
          : [
              trans.__('Move to the Side Panel'),
              trans.__('Move the Agent Session to the Side Panel')
            ],
      icon: (args: Args) => (args.area === 'main' ? launchIcon : agentIcon),
      properties: { area: { enum: ['side', 'main'] } },
      failed: trans.__('The session was not moved'),
      isForGuests: true,
      isVisible: ({ id }, { area }) =>
        hasMainArea && !isOpenIn(id, area as 'side' | 'main'),
      run: ({ id }, { area }) =>
        app.commands.execute(CommandIDs.openSession, { id, area })
    });
    add(CommandIDs.forkSession, {
      labels: () => [trans.__('Fork'), trans.__('Fork the Agent Session')],
      icon: copyIcon,
      failed: trans.__('The session was not forked'),
      isEnabled: isQuiet,
      run: async ({ id }) => {
        await app.commands.execute(CommandIDs.open);
        await panel.model.fork(id);
      }
    });
    add(CommandIDs.reloadSession, {
      labels: () => [
        trans.__('Reload from the Agent…'),
        trans.__('Reload the Session from the Agent…')
      ],
      icon: refreshIcon,
      failed: trans.__('The session was not reloaded'),
      isVisible: ({ canReload }) => canReload === true,
      isEnabled: isQuiet,
      run: async ({ id }) => {
        const { confirmReload } = await import('../sessions/dialogs');
        if (await confirmReload(trans)) {
          await sessions.archive.reload(id);
        }
      }
    });
    add(CommandIDs.exportSession, {
      labels: ({ format }) =>
        format === 'notebook'
          ? [
              trans.__('Export to a Notebook'),
              trans.__('Export the Agent Session to a Notebook')
            ]
          : [
              trans.__('Export to Markdown'),
              trans.__('Export the Agent Session to Markdown')
            ],
      icon: (args: Args) =>
        args.format === 'notebook' ? notebookIcon : markdownIcon,
      properties: {
        format: {
          enum: ['markdown', 'notebook'],
          description: trans.__('The format of the new document')
        }
      },
      failed: trans.__('The session was not exported'),
      isForGuests: true,
      run: async ({ id }, args) => {
        const { exportSession } = await import('../sessions/export');
        const path = await exportSession({
          id,
          format: args.format === 'notebook' ? 'notebook' : 'markdown',
          sessions,
          agents,
          contents: app.serviceManager.contents,
          kernelspecs: app.serviceManager.kernelspecs,
          trans
        });
        await app.commands.execute('docmanager:open', { path });
      }
    });
    add(CommandIDs.downloadSession, {
      labels: () => [
        trans.__('Download as JSON Lines'),
        trans.__('Download the Agent Session as JSON Lines')
      ],
      icon: downloadIcon,
      failed: trans.__('The session was not exported'),
      isForGuests: true,
      run: async ({ id }) => {
        const { download } = await import('../sessions/dialogs');
        download(`${id}.jsonl`, await sessions.archive.export(id));
      }
    });
    add(CommandIDs.closeSession, {
      labels: () => [trans.__('Close'), trans.__('Close the Agent Session')],
      icon: closeIcon,
      failed: trans.__('The session was not closed'),
      isEnabled: ({ state }) => state !== 'closed',
      run: ({ id }) => sessions.archive.end(id)
    });
    add(CommandIDs.deleteSession, {
      labels: () => [
        trans.__('Delete…'),
        trans.__('Delete the Agent Session…')
      ],
      icon: deleteIcon,
      failed: trans.__('The session was not deleted'),
      run: async session => {
        const { confirmDelete } = await import('../sessions/dialogs');
        if (await confirmDelete(session, trans)) {
          await sessions.archive.remove(session.id);
        }
      }
    });
    add(CommandIDs.stopTurn, {
      labels: () => [trans.__('Stop'), trans.__('Stop the Agent')],
      icon: stopIcon,
      failed: trans.__('The agent was not stopped'),
      isEnabled: ({ state }) => state === 'running',
      run: async ({ id }) => (await sessions.follow(id)).cancel()
    });
    add(CommandIDs.sendMessage, {
      labels: () => [
        trans.__('Send'),
        trans.__('Send the Message to the Agent')
      ],
      icon: sendIcon,
      failed: trans.__('The message was not sent'),
      run: async ({ id }) => (await sessions.follow(id)).sendComposed()
    });

    const category = trans.__('Agents');
    for (const command of [
      CommandIDs.renameSession,
      CommandIDs.forkSession,
      CommandIDs.reloadSession,
      CommandIDs.downloadSession,
      CommandIDs.closeSession,
      CommandIDs.deleteSession,
      CommandIDs.stopTurn
    ]) {
      palette?.addItem({ command, category });
    }
    for (const format of ['markdown', 'notebook']) {
      palette?.addItem({
        command: CommandIDs.exportSession,
        category,
        args: { format }
      });
    }
    for (const area of hasMainArea ? ['main', 'side'] : []) {
      palette?.addItem({
        command: CommandIDs.moveSession,
        category,
        args: { area }
      });
    }
    sessions.currentChanged.connect(() => app.commands.notifyCommandChanged());
  }
};
