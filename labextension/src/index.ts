// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { connection } from './plugins/connection';
import { panel } from './plugins/panel';
import { sessions } from './plugins/sessions';

export default [connection, sessions, panel];
