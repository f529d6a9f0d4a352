// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { ISettingRegistry } from '@jupyterlab/settingregistry';

import type { IAcpConnection } from '../api/connection';
import { Method } from '../protocol';

/**
 * Tell the server a part of the settings, now and whenever that changes or the
 * connection is new. The server keeps what it was last told.
 */
export async function tellServer(
  connection: IAcpConnection,
  registry: ISettingRegistry,
  plugin: string,
  part: (loaded: ISettingRegistry.ISettings) => object
): Promise<ISettingRegistry.ISettings> {
  await connection.ready;
  const loaded = await registry.load(plugin);
  const tell = (): void =>
    connection.notify(Method.settingsUpdate, part(loaded));
  loaded.changed.connect(tell);
  connection.statusChanged.connect((_, status) => {
    if (status === 'connected') {
      tell();
    }
  });
  tell();
  return loaded;
}
