// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { CommandIDs } from '../api/commands';
import type { IOccasion } from '../sessions/attention';
import type { Sessions } from '../sessions/sessions';
import { ISessionStore } from '../sessions/token';

/** Calls the person to sessions that wait or are done out of sight. */
export const notifications: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-acp-bridge:notifications',
  description: 'Shows notifications about sessions in the background.',
  autoStart: true,
  requires: [ISessionStore],
  optional: [ISettingRegistry, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    sessions: Sessions,
    registry: ISettingRegistry | null,
    translator: ITranslator | null
  ): void => {
    const trans = (translator ?? nullTranslator).load('jupyter_acp_bridge');
    const { attention, list, connection } = sessions;
    const shown = new Map<string, string>();
    let tellsOfEnds = true;
    connection.ready
      .then(() => registry?.load(notifications.id))
      .then(settings => {
        const read = (): void => {
          tellsOfEnds = settings?.composite.finished !== false;
        };
        settings?.changed.connect(read);
        read();
      })
      .catch(error =>
        console.error('jupyter-acp: the settings were not loaded', error)
      );

    const words = (status: IOccasion['status'], title: string) =>
      ({
        waiting: trans.__('“%1” waits for you.', title),
        done: trans.__('“%1” is done.', title),
        failed: trans.__('“%1” has failed.', title)
      })[status];
    const types = { waiting: 'warning', done: 'success', failed: 'error' };

    attention.called.connect((_, { id, status }) => {
      if (status !== 'waiting' && !tellsOfEnds) {
        return;
      }
      const title = list.get(id)?.title || trans.__('New session');
      shown.set(
        id,
        Notification.emit(
          words(status, title),
          types[status] as Notification.TypeOptions,
          {
            // Somebody has to answer; the rest can be read at leisure.
            autoClose: status === 'waiting' ? false : 8000,
            actions: [
              {
                label: trans.__('Show'),
                displayType: 'accent',
                callback: () => {
                  void app.commands.execute(CommandIDs.openSession, { id });
                }
              }
            ]
          }
        )
      );
    });
    attention.settled.connect((_, id) => {
      const notification = shown.get(id);
      shown.delete(id);
      if (notification !== undefined) {
        Notification.dismiss(notification);
      }
    });
  }
};
