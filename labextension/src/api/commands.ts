// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

/** The commands of the chat. */
export namespace CommandIDs {
  export const open = 'jupyter-acp-bridge:open';
  export const newSession = 'jupyter-acp-bridge:new-session';
  export const newRemoteSession = 'jupyter-acp-bridge:new-remote-session';
  export const openSession = 'jupyter-acp-bridge:open-session';
  export const openChange = 'jupyter-acp-bridge:open-change';
  export const focusRequest = 'jupyter-acp-bridge:focus-request';
  export const exportSession = 'jupyter-acp-bridge:export-session';
  export const reloadSession = 'jupyter-acp-bridge:reload-session';
  /** The settings editor's. */
  export const openSettings = 'settingeditor:open';
  /** The terminal extension's. */
  export const openTerminal = 'terminal:open';
  export const newTerminal = 'terminal:create-new';
}
