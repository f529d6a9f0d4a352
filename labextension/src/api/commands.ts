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
  export const renameSession = 'jupyter-acp-bridge:rename-session';
  export const forkSession = 'jupyter-acp-bridge:fork-session';
  export const closeSession = 'jupyter-acp-bridge:close-session';
  export const deleteSession = 'jupyter-acp-bridge:delete-session';
  export const reloadSession = 'jupyter-acp-bridge:reload-session';
  export const exportSession = 'jupyter-acp-bridge:export-session';
  export const downloadSession = 'jupyter-acp-bridge:download-session';
  export const moveSession = 'jupyter-acp-bridge:move-session';
  export const sendMessage = 'jupyter-acp-bridge:send-message';
  export const stopTurn = 'jupyter-acp-bridge:stop-turn';
  /** The settings editor's. */
  export const openSettings = 'settingeditor:open';
  /** The terminal extension's. */
  export const openTerminal = 'terminal:open';
  export const newTerminal = 'terminal:create-new';
}
