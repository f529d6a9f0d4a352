// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import {
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { MainAreaWidget, WidgetTracker } from '@jupyterlab/apputils';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { CommandIDs } from '../api/commands';
import type { AcpPanel } from '../panel/panel';
import type { SessionTab } from '../panel/tab';
import { IAcpPanel } from '../panel/token';

/** Opens sessions as tabs of the main area, and finds them where they are. */
export const tabs: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-acp-bridge:tabs',
  description: 'Opens sessions in the side panel and in the main area.',
  autoStart: true,
  requires: [IAcpPanel],
  optional: [ITranslator, ILayoutRestorer],
  activate: (
    app: JupyterFrontEnd,
    panel: AcpPanel,
    translator: ITranslator | null,
    restorer: ILayoutRestorer | null
  ): void => {
    const trans = (translator ?? nullTranslator).load('jupyter_acp_bridge');
    const tracker = new WidgetTracker<MainAreaWidget<SessionTab>>({
      namespace: 'jupyter-acp-bridge'
    });

    const find = (id: string): MainAreaWidget<SessionTab> | undefined =>
      tracker.find(tab => tab.content.sessionId === id);

    const create = async (id: string): Promise<MainAreaWidget<SessionTab>> => {
      const { SessionTab } = await import('../panel/tab');
      const tab = new MainAreaWidget({
        content: new SessionTab(panel.context, id)
      });
      tab.id = `jp-acp-session-${id}`;
      tab.toolbar.hide();
      await tracker.add(tab);
      app.shell.add(tab, 'main', { type: 'Agents' });
      return tab;
    };

    app.commands.addCommand(CommandIDs.openSession, {
      label: trans.__('Open an Agent Session'),
      caption: trans.__('Show a session with an agent'),
      describedBy: {
        args: {
          type: 'object',
          required: ['id'],
          properties: {
            id: {
              type: 'string',
              description: trans.__('The id of the session')
            },
            area: {
              enum: ['side', 'main'],
              description: trans.__(
                'The area to show the session in; if omitted, where it is already open, else the side panel'
              )
            }
          }
        }
      },
      execute: async args => {
        const id = args.id as string;
        const open = find(id);
        const area = args.area ?? (open ? 'main' : 'side');
        if (area === 'main' && panel.context.hasMainArea) {
          app.shell.activateById((open ?? (await create(id))).id);
          return;
        }
        await app.commands.execute(CommandIDs.open);
        await panel.openSession(id);
        open?.dispose();
      }
    });
    void restorer?.restore(tracker, {
      command: CommandIDs.openSession,
      args: ({ content }) => ({ id: content.sessionId, area: 'main' }),
      name: ({ content }) => content.sessionId
    });
  }
};
