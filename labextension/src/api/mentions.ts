// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Token } from '@lumino/coreutils';
import type { ISignal } from '@lumino/signaling';

import type { Attachment } from './attachment';
import type { IWorkspaceTracker } from './workspace';

/** What the agent is told with the next message. */
export interface IActiveContext {
  /** Where the user is, if that is told. */
  label: string;
  told: IWorkspaceTracker.ITold;
}

/** Something that a prompt can mention. */
export interface IMention {
  kind: 'cell' | 'output' | 'open' | 'file';
  name: string;
  detail: string;
  attachment: Attachment;
}

/** What prompts can refer to. */
export interface IPromptContext {
  /** Emitted when the user has moved on, perhaps only by a letter. */
  readonly changed: ISignal<unknown, void>;
  /** Null if nothing is told. */
  active(): IActiveContext | null;
  /** What could be meant by a few letters. */
  suggest(query: string): Promise<IMention[]>;
  /** A file by its contents path. */
  file(path: string): Attachment;
  /** A cell of an open notebook. */
  cell(path: string, id: string): Attachment | null;
  /** A cell that failed, with what is around it. */
  failure(path: string, id: string): Attachment[];
}

export const IPromptContext = new Token<IPromptContext>(
  'jupyter-acp-bridge:IPromptContext',
  'What prompts to agents can refer to.'
);
