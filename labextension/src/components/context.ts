// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { INamedChange } from '../model/changes';
import type { SessionModel } from '../model/session';
import type {
  IChatSettings,
  ICodeActions,
  IDocumentOpener,
  IPermissionRules,
  IPromptContext,
  ISessions
} from '../tokens';

/** The terminals of JupyterLab, which not every server has. */
export interface ITerminals {
  readonly isAvailable: boolean;
  /** Show a running one in a tab. */
  open(name: string): Promise<void>;
  /** Open a new one, and type a command into it. */
  run(command: string): Promise<void>;
}

/** Shows changes where there is more room than in the chat. */
export interface IChangeViewer {
  open(session: SessionModel, change: INamedChange): void;
}

/** What every component of the chat may need. */
export interface IChatContext {
  sessions: ISessions;
  rendermime: IRenderMimeRegistry;
  languages: IEditorLanguageRegistry;
  terminals: ITerminals;
  opener?: IDocumentOpener;
  context?: IPromptContext;
  code?: ICodeActions;
  settings?: IChatSettings;
  changes?: IChangeViewer;
  /** Whether sessions can be opened as tabs of the main area. */
  hasMainArea: boolean;
  /** Run the command that goes to what is asked, if these are its keys. */
  goToRequest(event: KeyboardEvent): boolean;
  /** Show a session; where it is open already, if no area is named. */
  openSession(id: string, area?: 'side' | 'main'): Promise<void>;
  /** Show what has to be known before a remote session begins. */
  newRemoteSession(agent?: string): Promise<void>;
  /** Write a session into a new document, and open that. */
  exportSession(id: string, format: 'markdown' | 'notebook'): Promise<void>;
  /** Replace its transcript by what its agent tells, if the user wants that. */
  reloadSession(id: string): Promise<void>;
  /** Show a page of the settings, by its title. */
  openSettings(title: string): Promise<void>;
  rules?: IPermissionRules;
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
