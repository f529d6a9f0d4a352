// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import { Signal } from '@lumino/signaling';

import { tellServer } from '../../src/plugins/telling';
import { Method } from '../../src/protocol';
import { FakeServer } from '../support/server';

const PLUGIN = 'jupyter-acp-bridge:mcp';

describe('settings that the server has to know', () => {
  let server: FakeServer;
  let composite: Record<string, unknown>;
  const source = {};
  const changed = new Signal<object, void>(source);
  const registry = {
    load: (plugin: string) => {
      expect(plugin).toBe(PLUGIN);
      return Promise.resolve({
        get composite() {
          return composite;
        },
        changed
      });
    }
  } as unknown as ISettingRegistry;

  beforeEach(async () => {
    server = await FakeServer.start();
    composite = { servers: [{ name: 'issues' }] };
  });

  afterEach(async () => {
    Signal.clearData(source);
    await server.stop();
  });

  it('are told at first, when they change, and over a new connection', async () => {
    const connection = server.connect();
    await tellServer(connection, registry, PLUGIN, ({ composite }) => ({
      servers: composite.servers
    }));
    const first = await server.waitFor(Method.settingsUpdate);
    expect(first.params).toEqual({ servers: [{ name: 'issues' }] });
    composite = { servers: [] };
    changed.emit();
    const second = await server.waitFor(Method.settingsUpdate, 2);
    expect(second.params).toEqual({ servers: [] });
    server.drop();
    const third = await server.waitFor(Method.settingsUpdate, 3);
    expect(third.params).toEqual({ servers: [] });
  });

  it('wait until there is a connection', async () => {
    const connection = server.connection();
    const told = tellServer(connection, registry, PLUGIN, () => ({}));
    expect(server.requests(Method.settingsUpdate)).toEqual([]);
    connection.connect();
    await told;
    await server.waitFor(Method.settingsUpdate);
  });
});
