// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { IAcpConnection } from '../api/connection';
// A few kilobytes that every later plugin needs at once.
// eslint-disable-next-line jupyter/prefer-lazy-imports
import { AcpConnection } from '../connection/connection';

/** Provides the window's socket; it opens when somebody first needs it. */
export const connection: JupyterFrontEndPlugin<IAcpConnection> = {
  id: 'jupyter-acp-bridge:connection',
  description: 'Connects this window to the agents of the Jupyter server.',
  autoStart: true,
  provides: IAcpConnection,
  optional: [ITranslator],
  activate: (
    app: JupyterFrontEnd,
    translator: ITranslator | null
  ): IAcpConnection => {
    const trans = (translator ?? nullTranslator).load('jupyter_acp_bridge');
    return new AcpConnection({
      settings: app.serviceManager.serverSettings,
      clientInfo: {
        name: app.name,
        title: app.name,
        version: app.version
      },
      lostMessage: trans.__(
        'There is no connection to the Jupyter server. JupyterLab reconnects automatically; then send again.'
      )
    });
  }
};
