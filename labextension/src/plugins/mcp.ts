// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ISettingRegistry } from '@jupyterlab/settingregistry';

import { type IServerSetting, toldServer } from '../agents/mcpsettings';
import { IAcpConnection } from '../api/connection';
import { tellServer } from './telling';

/** Tells the server the user's MCP servers, which are kept in the settings. */
export const mcpServers: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-acp-bridge:mcp',
  description: 'Provides the settings of the MCP servers for agents.',
  autoStart: true,
  requires: [IAcpConnection, ISettingRegistry],
  activate: (
    _: JupyterFrontEnd,
    connection: IAcpConnection,
    registry: ISettingRegistry
  ): void => {
    tellServer(connection, registry, mcpServers.id, ({ composite }) => ({
      servers: (composite.servers as unknown as IServerSetting[]).map(
        toldServer
      )
    })).catch(error =>
      console.error('jupyter-acp: the MCP servers were not loaded', error)
    );
  }
};
