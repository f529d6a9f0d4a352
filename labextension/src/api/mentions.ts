// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Token } from '@lumino/coreutils';

import type { Attachment } from './attachment';

/** What messages can refer to, as attachments. */
export interface IPromptContext {
  /** A file by its contents path. */
  file(path: string): Attachment;
  /** A cell of an open notebook. */
  cell(path: string, id: string): Attachment | null;
  /** A cell that failed, with what is around it. */
  failure(path: string, id: string): Attachment[];
}

export const IPromptContext = new Token<IPromptContext>(
  'jupyter-acp-bridge:IPromptContext',
  'What messages to agents can refer to.'
);
