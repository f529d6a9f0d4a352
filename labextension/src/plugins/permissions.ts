// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import type { PartialJSONObject } from '@lumino/coreutils';

import { IAcpConnection, IPermissionRules } from '../tokens';
import { tellSettings } from './tellsettings';

/** Tells the server the user's rules, which are kept in the settings. */
export const permissions: JupyterFrontEndPlugin<IPermissionRules> = {
  id: 'jupyter-acp-bridge:permissions',
  description: 'Keeps what the user lets agents do without being asked.',
  autoStart: true,
  provides: IPermissionRules,
  requires: [IAcpConnection],
  optional: [ISettingRegistry],
  activate: (
    _: JupyterFrontEnd,
    connection: IAcpConnection,
    registry: ISettingRegistry | null
  ): IPermissionRules => {
    const settings = connection.ready.then(() =>
      registry?.load(permissions.id)
    );
    const rules = (loaded: ISettingRegistry.ISettings): IRule[] =>
      loaded.composite.rules as unknown as IRule[];
    settings.then(
      loaded => {
        if (!loaded) {
          return;
        }
        tellSettings(connection, loaded, composite => {
          const byAgent: Record<string, Omit<IRule, 'agent'>[]> = {};
          for (const { agent = '*', ...rule } of rules(loaded)) {
            (byAgent[agent] ??= []).push(rule);
          }
          return { rules: byAgent, defaults: defaultsOf(composite) };
        });
      },
      // The server goes by the rules that it was last told.
      error => console.error('jupyter-acp: the rules were not loaded', error)
    );
    return {
      add: async rule => {
        const loaded = await settings;
        await loaded?.set('rules', [...rules(loaded), rule]);
      }
    };
  }
};

/** What is asked where no rule fits. */
function defaultsOf({
  everything,
  reading,
  editing,
  running,
  restarting
}: PartialJSONObject): Record<string, unknown> {
  const chosen = {
    read: reading,
    write: editing,
    run: running,
    restart: restarting
  };
  return everything
    ? Object.fromEntries(Object.keys(chosen).map(kind => [kind, 'ask']))
    : chosen;
}

type IRule = Partial<IPermissionRules.IRule> &
  Pick<IPermissionRules.IRule, 'decision'>;
