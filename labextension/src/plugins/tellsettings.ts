// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import type { PartialJSONObject } from '@lumino/coreutils';

import { Method } from '../protocol';
import type { IAcpConnection } from '../tokens';

/** Tell the server what it has to know of some settings: now, when they change, and after each reconnect. */
export function tellSettings(
  connection: IAcpConnection,
  settings: ISettingRegistry.ISettings,
  told: (composite: PartialJSONObject) => Record<string, unknown>
): void {
  const tell = (): void => {
    connection.notify(
      Method.settingsUpdate,
      told(settings.composite as PartialJSONObject)
    );
  };
  settings.changed.connect(tell);
  connection.statusChanged.connect((_, status) => {
    if (status === 'connected') {
      tell();
    }
  });
  tell();
}
