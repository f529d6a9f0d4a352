// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Token } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import type { ISignal } from '@lumino/signaling';

import type { Attachment } from './attachment';
import type { ISession } from './sessions';

/** Something to choose while a word of a message is typed. */
export interface ISuggestion {
  /** Put in after the trigger; one word. */
  readonly name: string;
  readonly detail?: string;
  /** What comes after it, in words; not put in. */
  readonly hint?: string;
  /** Goes with the message. */
  readonly attachment?: Attachment;
}

/** Suggests words that begin with a trigger: mentions (`@`), or commands (`/`). */
export interface IPromptProvider {
  readonly id: string;
  readonly trigger: '@' | '/';
  /**
   * Return what could be meant by some letters. An answer that takes longer
   * than two seconds is not waited for, and an error is only logged.
   */
  suggest(
    query: string,
    session: ISession,
    signal: AbortSignal
  ): Promise<readonly ISuggestion[]>;
}

/** The providers of suggestions in messages. */
export interface IPromptProviders {
  /** Add a provider, until this is disposed; its suggestions come after those of earlier ones. */
  add(provider: IPromptProvider): IDisposable;
}

export const IPromptProviders = new Token<IPromptProviders>(
  'jupyter-acp-bridge:IPromptProviders',
  'The providers of mentions and commands in messages to agents.'
);

/** What a chip says that can be sent with a message. */
export interface IContextOffer {
  readonly label: string;
  /** What is sent. */
  readonly title: string;
}

/** Something that messages can carry along, on and off by a chip above the message. */
export interface IContextProvider {
  readonly id: string;
  /** Emitted when another offer is made. */
  readonly changed: ISignal<unknown, unknown>;
  /** What would go with a message now, or null. */
  offer(session: ISession): IContextOffer | null;
  /** What goes with a message that is sent now; it has two seconds to say so. */
  attachments(
    session: ISession,
    signal: AbortSignal
  ): Promise<readonly Attachment[]>;
}

/** The providers of what messages carry along. */
export interface IContextProviders {
  /** Add a provider, until this is disposed. */
  add(provider: IContextProvider): IDisposable;
}

export const IContextProviders = new Token<IContextProviders>(
  'jupyter-acp-bridge:IContextProviders',
  'The providers of what messages to agents carry along.'
);
