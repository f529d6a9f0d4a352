// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type {
  ContentBlock,
  PromptCapabilities
} from '@agentclientprotocol/sdk';

import type { Attachment } from '../api/attachment';
import { META_KEY, SANDBOX_KEY } from '../protocol';
import { fenced } from '../ui/fence';

/** Whether two are the same thing, so that one of them is enough. */
export function isSameAttachment(one: Attachment, other: Attachment): boolean {
  if (one.type === 'image') {
    return other.type === 'image' && one.data === other.data;
  }
  return other.type !== 'image' && one.uri === other.uri;
}

/** The agent that a prompt is for. */
export interface IRecipient extends PromptCapabilities {
  /** It works on another machine or in other folders, where our paths mean nothing. */
  isRemote?: boolean;
}

/** A prompt in the words of the protocol, as far as the agent takes them. */
export function promptBlocks(
  text: string,
  attachments: readonly Attachment[],
  recipient: IRecipient
): ContentBlock[] {
  const blocks: ContentBlock[] = text ? [{ type: 'text', text }] : [];
  for (const attachment of attachments) {
    blocks.push(blockOf(attachment, recipient));
  }
  return blocks;
}

function blockOf(
  attachment: Attachment,
  { embeddedContext, isRemote }: IRecipient
): ContentBlock {
  switch (attachment.type) {
    case 'file': {
      const { uri, name } = attachment;
      const isNotebook = name.endsWith('.ipynb');
      if (isRemote) {
        const kind = isNotebook ? 'notebook' : 'file';
        return named(`The user means the ${kind} ${name}.`, { name });
      }
      if (isNotebook) {
        // Some agents would paste what a link leads to: JSON, older than what is open.
        const path = pathOf(uri);
        const meant = `The user means the notebook ${name} (${path}).`;
        return named(meant, { name, uri });
      }
      // A type makes some agents take text for a binary file, which they refuse.
      return { type: 'resource_link', uri, name };
    }
    case 'image': {
      const { mimeType, data } = attachment;
      // An image has no place for its name.
      const _meta = { [SANDBOX_KEY]: { filename: attachment.name } };
      return { type: 'image', mimeType, data, _meta };
    }
    case 'text': {
      const { uri, name, text, mimeType } = attachment;
      if (embeddedContext && !isRemote) {
        return {
          type: 'resource',
          resource: { uri, text, ...given({ mimeType }) },
          _meta: { [META_KEY]: { name } }
        };
      }
      const label = isRemote ? name : `${name} (${uri})`;
      const shown = mimeType === 'text/markdown' ? text : fenced(text);
      return named(`${label}:\n${shown}`, { name });
    }
  }
}

/** Something in words for the agent, which people see under its name, or as a link. */
function named(
  words: string,
  thing: { name: string; uri?: string }
): ContentBlock {
  return { type: 'text', text: `\n${words}\n`, _meta: { [META_KEY]: thing } };
}

/** The path that a file's address stands for. */
function pathOf(uri: string): string {
  return decodeURIComponent(uri.replace(/^file:\/\//, ''));
}

function given<T extends object>(fields: T): Partial<T> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined)
  ) as Partial<T>;
}
