// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type {
  ContentBlock,
  ToolCallContent,
  ToolCallLocation
} from '@agentclientprotocol/sdk';

import {
  type Shape,
  anyOf,
  count,
  fields,
  name,
  object,
  oneOf,
  tagged,
  text
} from './shapes';

const extras = { _meta: object };

/** What is said, shown or attached. */
export const contentBlock: Shape<ContentBlock> = tagged('type', {
  text: fields({ type: oneOf('text'), text }, extras),
  image: fields(
    { type: oneOf('image'), mimeType: text, data: text },
    { uri: text, ...extras }
  ),
  audio: fields({ type: oneOf('audio'), mimeType: text, data: text }, extras),
  resource_link: fields(
    { type: oneOf('resource_link'), uri: text, name: text },
    { title: text, mimeType: text, ...extras }
  ),
  resource: fields(
    {
      type: oneOf('resource'),
      resource: anyOf<
        { uri: string; text: string } | { uri: string; blob: string }
      >(
        fields({ uri: text, text }, { mimeType: text }),
        fields({ uri: text, blob: text }, { mimeType: text })
      )
    },
    extras
  )
});

/** A part of what a tool call shows. */
export const toolContent: Shape<ToolCallContent> = tagged('type', {
  content: fields({ type: oneOf('content'), content: contentBlock }, extras),
  diff: fields(
    { type: oneOf('diff'), path: text, newText: text },
    { oldText: text, ...extras }
  ),
  terminal: fields({ type: oneOf('terminal'), terminalId: text }, extras)
});

export const location: Shape<ToolCallLocation> = fields(
  { path: name },
  { line: count }
);
