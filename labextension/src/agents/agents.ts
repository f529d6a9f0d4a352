// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IAgents } from '../api/agents';
import type { IAcpConnection } from '../api/connection';
import type { AcpApi } from '../connection/rest';
import { type IAgent, META_KEY, Method } from '../protocol';

/** The agents of the server. */
export class Agents implements IAgents {
  constructor(
    private readonly _connection: IAcpConnection,
    private readonly _api: AcpApi
  ) {}

  list(): Promise<IAgent[]> {
    return this._api.agents();
  }

  restart(id: string): Promise<void> {
    return this._api.restartAgent(id);
  }

  log(id: string): Promise<string[]> {
    return this._api.agentLog(id);
  }

  async authenticate(
    id: string,
    methodId: string,
    options?: IAcpConnection.IRequestOptions
  ): Promise<void> {
    await this._connection.request(
      Method.authenticate,
      { methodId, _meta: { [META_KEY]: { agent: id } } },
      options
    );
  }

  async logout(id: string): Promise<void> {
    await this._connection.request(Method.logout, {
      _meta: { [META_KEY]: { agent: id } }
    });
  }
}
