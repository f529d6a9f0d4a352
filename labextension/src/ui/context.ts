// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import * as React from 'react';

import type { IAgents } from '../api/agents';
import type { IChatSettings } from '../api/chat';
import type { IAcpConnection } from '../api/connection';
import type { IPromptContext } from '../api/mentions';
import type { IPermissionRules } from '../api/permissions';
import type { ICodeActions, IDocumentOpener } from '../api/workspace';

/** The terminals of JupyterLab, which not every server has. */
export interface ITerminals {
  readonly isAvailable: boolean;
  /** Show a running one in a tab. */
  open(name: string): Promise<void>;
  /** Open a new one, and type a command into it. */
  run(command: string): Promise<void>;
}

/** The parts of JupyterLab and of the public interface that any component may use. */
export interface IChatContext {
  connection: IAcpConnection;
  agents: IAgents;
  rendermime: IRenderMimeRegistry;
  languages: IEditorLanguageRegistry;
  terminals: ITerminals;
  opener?: IDocumentOpener;
  references?: IPromptContext;
  code?: ICodeActions;
  settings?: IChatSettings;
  rules?: IPermissionRules;
  /** True if sessions can be opened as tabs of the main area. */
  hasMainArea: boolean;
  /** Show a session; where it is open already, if no area is named. */
  openSession(id: string, area?: 'side' | 'main'): Promise<void>;
  /** Open the menu of what an element stands for, with the focus back there at its end. */
  openMenu(anchor: HTMLElement): void;
  /** Run a command of the chat. */
  run(command: string, args?: ReadonlyPartialJSONObject): void;
  /** Show the page from which a remote session starts. */
  newRemoteSession(agent?: string): Promise<void>;
  /** Replace a transcript by the history from its agent, if the user confirms. */
  reloadSession(id: string): Promise<void>;
  /** Show a page of the settings, by its title. */
  openSettings(title: string): Promise<void>;
  trans: TranslationBundle;
}

export const ChatContext = React.createContext<IChatContext | null>(null);

export function useChat(): IChatContext {
  const context = React.useContext(ChatContext);
  if (!context) {
    throw new Error('A chat component was used outside of the chat.');
  }
  return context;
}
