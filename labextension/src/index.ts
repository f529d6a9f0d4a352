// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { actions } from './plugins/actions';
import { agents } from './plugins/agents';
import {
  publicContextProviders,
  publicPanel,
  publicPromptProviders,
  publicRenderers,
  publicSessions
} from './plugins/api';
import { changes } from './plugins/changes';
import { codeActions } from './plugins/codeactions';
import { connection } from './plugins/connection';
import { documents } from './plugins/documents';
import { mcpServers } from './plugins/mcp';
import { notifications } from './plugins/notifications';
import { opener } from './plugins/opener';
import { panel } from './plugins/panel';
import { permissions } from './plugins/permissions';
import { promptContext } from './plugins/promptcontext';
import { remote } from './plugins/remote';
import { run } from './plugins/run';
import { sessionCommands } from './plugins/sessioncommands';
import { sessions } from './plugins/sessions';
import { settings } from './plugins/settings';
import { tabs } from './plugins/tabs';
import { workspace } from './plugins/workspace';

export * from './api';

export default [
  connection,
  agents,
  sessions,
  publicSessions,
  permissions,
  mcpServers,
  opener,
  settings,
  promptContext,
  codeActions,
  panel,
  publicPanel,
  publicRenderers,
  publicPromptProviders,
  publicContextProviders,
  actions,
  remote,
  tabs,
  changes,
  sessionCommands,
  notifications,
  workspace,
  documents,
  run
];
