// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ISettingRegistry } from '@jupyterlab/settingregistry';

import { IAcpConnection } from '../api/connection';
import { IPermissionRules } from '../api/permissions';
import { defaultsOf } from '../requests/defaults';
import { tellServer } from './telling';

/** Tells the server the user's rules, which are kept in the settings. */
export const permissions: JupyterFrontEndPlugin<IPermissionRules> = {
  id: 'jupyter-acp-bridge:permissions',
  description: 'Provides the permission settings and rules for agents.',
  autoStart: true,
  provides: IPermissionRules,
  requires: [IAcpConnection],
  optional: [ISettingRegistry],
  activate: (
    _: JupyterFrontEnd,
    connection: IAcpConnection,
    registry: ISettingRegistry | null
  ): IPermissionRules => {
    const rules = (loaded: ISettingRegistry.ISettings): IRule[] =>
      loaded.composite.rules as unknown as IRule[];
    const settings =
      registry &&
      tellServer(connection, registry, permissions.id, loaded => {
        const byAgent: Record<string, Omit<IRule, 'agent'>[]> = {};
        for (const { agent = '*', ...rule } of rules(loaded)) {
          (byAgent[agent] ??= []).push(rule);
        }
        return { rules: byAgent, defaults: defaultsOf(loaded.composite) };
      });
    settings?.catch(error =>
      console.error('jupyter-acp: the rules were not loaded', error)
    );
    return {
      add: async rule => {
        const loaded = await settings;
        await loaded?.set('rules', [...rules(loaded), rule]);
      }
    };
  }
};

type IRule = Partial<IPermissionRules.IRule> &
  Pick<IPermissionRules.IRule, 'decision'>;
