// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

/** For other extensions: `import { ISessions } from 'jupyter-acp-bridge'`. */

export * from './agents';
export * from './attachment';
export * from './chat';
export * from './commands';
export * from './connection';
export * from './mentions';
export * from './permissions';
export * from './prompt';
export * from './sessions';
export * from './tools';
export * from './workspace';
