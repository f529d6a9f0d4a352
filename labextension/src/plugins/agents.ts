// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';

import { Agents } from '../agents/agents';
import { IAgents } from '../api/agents';
import { IAcpConnection } from '../api/connection';
import { AcpApi } from '../connection/rest';

/** Provides the agents of the server. */
export const agents: JupyterFrontEndPlugin<IAgents> = {
  id: 'jupyter-acp-bridge:agents',
  description: 'Lists, restarts and logs in to agents.',
  autoStart: true,
  provides: IAgents,
  requires: [IAcpConnection],
  activate: (app: JupyterFrontEnd, connection: IAcpConnection): IAgents =>
    new Agents(connection, new AcpApi(app.serviceManager.serverSettings))
};
