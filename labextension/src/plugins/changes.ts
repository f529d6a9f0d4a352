// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import {
  ILabShell,
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { WidgetTracker } from '@jupyterlab/apputils';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { CommandIDs } from '../api/commands';
import { ChangeTab } from '../changes/tab';
import type { AcpPanel } from '../panel/panel';
import { IAcpPanel } from '../panel/token';

/** Opens changes as tabs of the main area, each of them once. */
export const changes: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-acp-bridge:changes',
  description: 'Opens changes of agents in tabs, also after a reload.',
  autoStart: true,
  requires: [IAcpPanel],
  optional: [ILabShell, ITranslator, ILayoutRestorer],
  activate: (
    app: JupyterFrontEnd,
    panel: AcpPanel,
    labShell: ILabShell | null,
    translator: ITranslator | null,
    restorer: ILayoutRestorer | null
  ): void => {
    if (!labShell) {
      return;
    }
    const trans = (translator ?? nullTranslator).load('jupyter_acp_bridge');
    const { context } = panel;
    const { sessions } = context;
    const tracker = new WidgetTracker<ChangeTab>({
      namespace: 'jupyter-acp-bridge-changes'
    });
    sessions.list.changed.connect(({ isLoaded }) => {
      tracker
        .filter(tab => isLoaded && !sessions.list.get(tab.sessionId))
        .forEach(tab => tab.dispose());
    });

    const create = async (
      sessionId: string,
      changeKey: string,
      path?: string
    ): Promise<ChangeTab> => {
      const tab = new ChangeTab({
        context,
        sessionId,
        changeKey,
        path,
        find: async () => {
          const { findChange } = await import('../sessions/findchange');
          return findChange(sessions, sessionId, changeKey);
        }
      });
      await tracker.add(tab);
      labShell.add(tab, 'main', { type: 'Agents' });
      return tab;
    };

    app.commands.addCommand(CommandIDs.openChange, {
      label: trans.__('Open a Change of an Agent'),
      caption: trans.__('Show a change of a file in a tab of its own'),
      describedBy: {
        args: {
          type: 'object',
          required: ['session', 'change'],
          properties: {
            session: {
              type: 'string',
              description: trans.__('The id of the session')
            },
            change: {
              type: 'string',
              description: trans.__('The key of the change in the session')
            },
            path: {
              type: 'string',
              description: trans.__(
                'The path of the file, for the title until the change is loaded'
              )
            }
          }
        }
      },
      execute: async ({ session, change, path }) => {
        const open = tracker.find(
          tab => tab.sessionId === session && tab.changeKey === change
        );
        const tab =
          open ??
          (await create(
            session as string,
            change as string,
            path as string | undefined
          ));
        labShell.activateById(tab.id);
      }
    });
    void restorer?.restore(tracker, {
      command: CommandIDs.openChange,
      args: ({ sessionId, changeKey, path }) => ({
        session: sessionId,
        change: changeKey,
        path
      }),
      name: ({ sessionId, changeKey }) => `${sessionId}:${changeKey}`
    });
  }
};
