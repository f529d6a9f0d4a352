// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';
import type { ContentBlock } from '@agentclientprotocol/sdk';

import { ourMeta } from '../protocol';
import { useChat } from './context';
import { Location } from './location';
import { Visible } from './visible';

/** SVG can carry scripts and is left out: it is shown as text instead. */
const SAFE_IMAGE = /^image\/(png|jpe?g|gif|webp|bmp|avif)$/;

interface IContentProps {
  block: ContentBlock;
}

/** A block of content that is not markdown. */
export function Content({ block }: IContentProps): JSX.Element {
  const { trans } = useChat();
  switch (block.type) {
    case 'text':
      return (
        <pre className="jp-acp-Text">
          <Visible text={block.text} />
        </pre>
      );
    case 'image':
      return SAFE_IMAGE.test(block.mimeType) ? (
        <img
          className="jp-acp-Image"
          src={`data:${block.mimeType};base64,${block.data}`}
          alt={trans.__('Image from the agent')}
        />
      ) : (
        <span className="jp-acp-Chip">
          {trans.__('Image (%1)', block.mimeType)}
        </span>
      );
    case 'audio':
      return (
        <audio
          controls
          className="jp-acp-Audio"
          src={`data:${block.mimeType};base64,${block.data}`}
          aria-label={trans.__('Audio from the agent')}
        />
      );
    case 'resource_link':
      return (
        <span className="jp-acp-Chip">
          <Location path={block.uri}>
            {block.title || block.name || block.uri}
          </Location>
        </span>
      );
    case 'resource':
      return (
        <details className="jp-acp-Resource">
          <summary title={block.resource.uri}>
            <Visible text={resourceName(block)} />
          </summary>
          {'text' in block.resource && (
            <pre className="jp-acp-Text">
              <Visible text={block.resource.text} />
            </pre>
          )}
        </details>
      );
    default:
      return <></>;
  }
}

/** What we have called it ourselves, or the last part of its address. */
function resourceName(
  block: Extract<ContentBlock, { type: 'resource' }>
): string {
  const { uri } = block.resource;
  const name =
    ourMeta<{ name: string }>(block).name ?? (uri.split('/').at(-1) || uri);
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
