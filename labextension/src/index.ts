// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { connection } from './plugins/connection';
import { documents } from './plugins/documents';
import { opener } from './plugins/opener';
import { panel } from './plugins/panel';
import { permissions } from './plugins/permissions';
import { run } from './plugins/run';
import { sessions } from './plugins/sessions';
import { workspace } from './plugins/workspace';

export default [
  connection,
  sessions,
  permissions,
  opener,
  panel,
  workspace,
  documents,
  run
];
