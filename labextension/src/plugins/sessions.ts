// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { IStateDB } from '@jupyterlab/statedb';

import { IChatSettings } from '../api/chat';
import { IAcpConnection } from '../api/connection';
import { AcpApi } from '../connection/rest';
// A few kilobytes that every later plugin needs at once.
// eslint-disable-next-line jupyter/prefer-lazy-imports
import { Sessions } from '../sessions/sessions';
import { ISessionStore } from '../sessions/token';

/** Provides the sessions that this window follows. */
export const sessions: JupyterFrontEndPlugin<Sessions> = {
  id: 'jupyter-acp-bridge:sessions',
  description: 'Follows the sessions between this window and the agents.',
  autoStart: true,
  provides: ISessionStore,
  requires: [IAcpConnection],
  optional: [IStateDB, IChatSettings],
  activate: (
    app: JupyterFrontEnd,
    connection: IAcpConnection,
    state: IStateDB | null,
    settings: IChatSettings | null
  ): Sessions => {
    const sessions = new Sessions({
      connection,
      api: new AcpApi(app.serviceManager.serverSettings),
      settings: settings ?? undefined,
      state: state ?? undefined,
      storage: window.sessionStorage
    });
    // Whoever left an agent at work wants to hear of it, also after a reload.
    void app.restored.then(() => sessions.resume());
    return sessions;
  }
};
