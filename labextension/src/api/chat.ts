// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Token } from '@lumino/coreutils';
import type { ISignal } from '@lumino/signaling';

import type { Attachment } from './attachment';

/** The chat in the side panel. */
export interface IChatPanel {
  /** Show a session in the panel. */
  openSession(id: string): Promise<void>;
  /** Show what has to be known before a remote session begins. */
  newRemoteSession(wanted: IChatPanel.IRemote): Promise<void>;
  /** Put something into the prompt, of a new session if none is open. */
  ask(question: IChatPanel.IQuestion): Promise<void>;
}

export namespace IChatPanel {
  export interface IRemote {
    /** The default agent if left out. */
    agent?: string;
    /** As the contents API spells it. */
    folder: string;
  }

  export interface IQuestion {
    text?: string;
    attachments: readonly Attachment[];
    /** Say it at once; if not, the person may first add to it. */
    isSent?: boolean;
  }
}

export const IChatPanel = new Token<IChatPanel>(
  'jupyter-acp-bridge:IChatPanel',
  'The side panel in which to talk to agents.'
);

/** How the user wants the chat to behave. */
export interface IChatSettings {
  readonly changed: ISignal<unknown, void>;
  /** Enter sends; if not, Shift+Enter does. */
  readonly sendsWithEnter: boolean;
  /** Agents are told where the user is, unless that is turned off for a session. */
  readonly sharesContext: boolean;
}

export const IChatSettings = new Token<IChatSettings>(
  'jupyter-acp-bridge:IChatSettings',
  'How the chat with agents behaves.'
);
