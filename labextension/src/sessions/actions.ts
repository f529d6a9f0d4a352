// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Dialog, showDialog, showErrorMessage } from '@jupyterlab/apputils';
import {
  closeIcon,
  copyIcon,
  deleteIcon,
  downloadIcon,
  editIcon,
  launchIcon,
  markdownIcon,
  notebookIcon,
  refreshIcon
} from '@jupyterlab/ui-components';
import * as React from 'react';

import type { ISessionInfo } from '../protocol';
import { type Attempt, AttemptContext } from '../ui/attempt';
import { agentIcon } from '../ui/icons';
import type { IMenuItem } from '../ui/menu';
import { type ISessionsContext, useSessions } from './context';
import { statusOf } from './list';
import { titleOf } from './words';

/** What can be done with a session, wherever it is shown. */
export interface ISessionActions {
  rename(session: ISessionInfo, title: string): void;
  /** Where it is shown decides what the first and the last are. */
  menu(session: ISessionInfo, place: IPlace): IMenuItem[];
}

export interface IPlace {
  area?: 'side' | 'main';
  onRename: () => void;
}

export function useSessionActions(): ISessionActions {
  const context = useSessions();
  const inPanel = React.useContext(AttemptContext);
  return React.useMemo(
    () => sessionActions(context, inPanel),
    [context, inPanel]
  );
}

function sessionActions(
  context: ISessionsContext,
  inPanel: Attempt | null
): ISessionActions {
  const { sessions, trans } = context;
  const attempt = (failed: string, work: () => Promise<unknown>): void => {
    work().catch(error => showErrorMessage(failed, error as Error));
  };

  const fork = async ({ id }: ISessionInfo): Promise<void> => {
    const model = await sessions.fork(id);
    await context.openSession(model.id, 'side');
  };

  const remove = async (session: ISessionInfo): Promise<void> => {
    const isBusy = ['running', 'waiting'].includes(statusOf(session));
    const lost = trans.__(
      '“%1” and its transcript will be deleted permanently. Files that the agent has changed are kept.',
      titleOf(session, trans)
    );
    const result = await showDialog({
      title: trans.__('Delete this session?'),
      body: isBusy
        ? `${lost} ${trans.__('The agent is still working and will be stopped.')}`
        : lost,
      buttons: [
        Dialog.cancelButton({ label: trans.__('Cancel') }),
        Dialog.warnButton({ label: trans.__('Delete') })
      ]
    });
    if (result.button.accept) {
      await sessions.archive.remove(session.id);
    }
  };

  const forking = (session: ISessionInfo): IMenuItem => ({
    label: trans.__('Fork'),
    icon: copyIcon,
    isEnabled: !['running', 'waiting'].includes(statusOf(session)),
    run: () =>
      inPanel
        ? void inPanel(trans.__('Forking the session…'), () => fork(session))
        : attempt(trans.__('The session was not forked'), () => fork(session))
  });

  const reloading = (session: ISessionInfo): IMenuItem => ({
    label: trans.__('Reload from the Agent…'),
    icon: refreshIcon,
    isEnabled: !['running', 'waiting'].includes(statusOf(session)),
    run: () =>
      attempt(trans.__('The session was not reloaded'), () =>
        context.reloadSession(session.id)
      )
  });

  const closing = (session: ISessionInfo): IMenuItem => ({
    label: trans.__('Close'),
    icon: closeIcon,
    isEnabled: session.state !== 'closed',
    run: () =>
      attempt(trans.__('The session was not closed'), () =>
        sessions.archive.end(session.id)
      )
  });

  const deleting = (session: ISessionInfo): IMenuItem => ({
    label: trans.__('Delete…'),
    icon: deleteIcon,
    run: () =>
      attempt(trans.__('The session was not deleted'), () => remove(session))
  });

  return {
    rename: (session, title) =>
      attempt(trans.__('The session was not renamed'), () =>
        sessions.archive.rename(session.id, title)
      ),
    menu: (session, { area, onRename }) => [
      ...(sessions.isGuest
        ? []
        : [{ label: trans.__('Rename'), icon: editIcon, run: onRename }]),
      ...(context.hasMainArea && area !== 'main'
        ? [
            {
              label: trans.__('Open in a Tab'),
              icon: launchIcon,
              run: () => void context.openSession(session.id, 'main')
            }
          ]
        : []),
      ...(area === 'main'
        ? [
            {
              label: trans.__('Move to the Side Panel'),
              icon: agentIcon,
              run: () => void context.openSession(session.id, 'side')
            }
          ]
        : []),
      ...(sessions.isGuest ? [] : [forking(session)]),
      ...(sessions.isGuest || !session.canReload ? [] : [reloading(session)]),
      {
        label: trans.__('Export to Markdown'),
        icon: markdownIcon,
        run: () =>
          attempt(trans.__('The session was not exported'), () =>
            context.exportSession(session.id, 'markdown')
          )
      },
      {
        label: trans.__('Export to a Notebook'),
        icon: notebookIcon,
        run: () =>
          attempt(trans.__('The session was not exported'), () =>
            context.exportSession(session.id, 'notebook')
          )
      },
      {
        label: trans.__('Download as JSON Lines'),
        icon: downloadIcon,
        run: () =>
          attempt(trans.__('The session was not exported'), async () =>
            download(
              `${session.id}.jsonl`,
              await sessions.archive.export(session.id)
            )
          )
      },
      ...(sessions.isGuest ? [] : [closing(session), deleting(session)])
    ]
  };
}

/** Let the browser save a text as a file. */
function download(name: string, text: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text]));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
