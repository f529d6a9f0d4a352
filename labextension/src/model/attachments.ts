// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import {
  type ContentBlock,
  type IPromptCapabilities,
  META_KEY,
  SANDBOX_KEY
} from '../protocol';

/** A file that the agent may look at itself. */
export interface IFileAttachment {
  type: 'file';
  name: string;
  uri: string;
}

/** Some text with the place that it comes from: a cell, a selection. */
export interface ITextAttachment {
  type: 'text';
  name: string;
  uri: string;
  text: string;
  mimeType?: string;
}

export interface IImageAttachment {
  type: 'image';
  name: string;
  mimeType: string;
  /** In base64. */
  data: string;
}

/** Something that goes with a prompt. */
export type Attachment = IFileAttachment | ITextAttachment | IImageAttachment;

/** Whether two are the same thing, so that one of them is enough. */
export function isSameAttachment(one: Attachment, other: Attachment): boolean {
  if (one.type === 'image') {
    return other.type === 'image' && one.data === other.data;
  }
  return other.type !== 'image' && one.uri === other.uri;
}

/** A prompt in the words of the protocol, as far as the agent takes them. */
export function promptBlocks(
  text: string,
  attachments: readonly Attachment[],
  capabilities: IPromptCapabilities
): ContentBlock[] {
  const blocks: ContentBlock[] = text ? [{ type: 'text', text }] : [];
  for (const attachment of attachments) {
    blocks.push(blockOf(attachment, capabilities));
  }
  return blocks;
}

function blockOf(
  attachment: Attachment,
  { embeddedContext }: IPromptCapabilities
): ContentBlock {
  switch (attachment.type) {
    case 'file': {
      const { uri, name } = attachment;
      // A type makes some agents take text for a binary file, which they refuse.
      return name.endsWith('.ipynb')
        ? {
            type: 'text',
            text: `\nThe notebook ${name} (${pathOf(uri)}): read it with read_notebook.\n`,
            _meta: { [META_KEY]: { name, uri } }
          }
        : { type: 'resource_link', uri, name };
    }
    case 'image': {
      const { mimeType, data } = attachment;
      // An image has no place for its name.
      const _meta = { [SANDBOX_KEY]: { filename: attachment.name } };
      return { type: 'image', mimeType, data, _meta };
    }
    case 'text': {
      const { uri, name, text, mimeType } = attachment;
      const isMarkdown = mimeType === 'text/markdown';
      return embeddedContext
        ? {
            type: 'resource',
            resource: { uri, text, ...given({ mimeType }) },
            _meta: { [META_KEY]: { name } }
          }
        : {
            type: 'text',
            text: `\n${name} (${uri}):\n${isMarkdown ? text : fenced(text)}\n`,
            _meta: { [META_KEY]: { name } }
          };
    }
  }
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

/** As code, in a fence that the text itself cannot end. */
export function fenced(text: string, language = ''): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map(s => s.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n$/, '')}\n${fence}`;
}
