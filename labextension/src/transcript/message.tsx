// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import { Content } from '../ui/content';
import { useChat } from '../ui/context';
import { useKept } from '../ui/hooks';
import { Markdown } from '../ui/markdown';
import { type IMessageItem, messageText, userName } from './items';

interface IMessageProps {
  item: IMessageItem;
  revision: number;
  /** Whether more of it is to come. */
  isGrowing?: boolean;
}

/**
 * What the person wrote: shown as written, not as markdown. Agents that load a
 * session tell it, too, and may tell anything.
 */
export function UserMessage({ item }: IMessageProps): JSX.Element {
  const { trans } = useChat();
  const name = userName(item, trans);
  return (
    <article
      className={`jp-acp-Message jp-acp-mod-user ${item.isHearsay ? 'jp-acp-mod-hearsay' : ''}`}
      aria-label={name}
    >
      {item.isHearsay && <div className="jp-acp-Message-name">{name}</div>}
      {item.parts.map((part, index) =>
        part.type === 'text' ? (
          <UserText key={index} item={item} text={part.blocks.text} />
        ) : (
          <Content key={index} block={part.block} />
        )
      )}
      {item.told.length > 0 && <Told item={item} />}
    </article>
  );
}

/** What the agent was told with a message, beside the user's own words. */
function Told({ item }: Pick<IMessageProps, 'item'>): JSX.Element {
  const { trans } = useChat();
  const [isOpen, setOpen] = useKept(item, 'told', false);
  return (
    <details
      className="jp-acp-Told"
      open={isOpen}
      onToggle={event => setOpen(event.currentTarget.open)}
    >
      <summary>{trans.__('Editor context')}</summary>
      {isOpen &&
        item.told.map((part, index) => (
          <Content
            key={index}
            block={
              part.type === 'text'
                ? { type: 'text', text: part.blocks.text }
                : part.block
            }
          />
        ))}
    </details>
  );
}

/** More of a message than this is folded: it was pasted, and is known. */
const LONG_CHARS = 1500;
const LONG_LINES = 16;

interface IUserTextProps {
  item: IMessageItem;
  text: string;
}

function UserText({ item, text }: IUserTextProps): JSX.Element {
  const { trans } = useChat();
  const [isWhole, setWhole] = useKept(item, 'whole', false);
  const start = text.slice(0, LONG_CHARS).split('\n', LONG_LINES).join('\n');
  const isLong = start.length < text.length;
  return (
    <>
      <div className="jp-acp-UserText">
        {isLong && !isWhole ? `${start}…` : text}
      </div>
      {isLong && (
        <button
          type="button"
          className="jp-acp-Link"
          aria-expanded={isWhole}
          onClick={() => setWhole(!isWhole)}
        >
          {isWhole ? trans.__('Show less') : trans.__('Show all')}
        </button>
      )}
    </>
  );
}

/** What the agent wrote. */
export function AgentMessage({
  item,
  revision,
  isGrowing = false
}: IMessageProps): JSX.Element {
  const { trans } = useChat();
  return (
    <article
      className="jp-acp-Message jp-acp-mod-agent"
      aria-label={trans.__('Agent')}
    >
      {item.parts.map((part, index) =>
        part.type === 'text' ? (
          <Markdown
            key={index}
            blocks={part.blocks}
            revision={revision}
            isGrowing={isGrowing}
          />
        ) : (
          <Content key={index} block={part.block} />
        )
      )}
    </article>
  );
}

/** What the agent thought: folded, and rendered only when it is read. */
export function Thought({
  item,
  revision,
  isGrowing = false
}: IMessageProps): JSX.Element {
  const { trans } = useChat();
  const [isOpen, setOpen] = useKept(item, 'open', false);
  const firstLine = messageText(item).trim().split('\n', 1)[0];
  return (
    <details
      className="jp-acp-Thought"
      open={isOpen}
      onToggle={event => setOpen(event.currentTarget.open)}
    >
      <summary>
        <span className="jp-acp-Thought-label">{trans.__('Thought')}</span>
        {!isOpen && (
          <span className="jp-acp-Thought-preview">
            {firstLine.slice(0, 160)}
          </span>
        )}
      </summary>
      {isOpen &&
        item.parts.map((part, index) =>
          part.type === 'text' ? (
            <Markdown
              key={index}
              blocks={part.blocks}
              revision={revision}
              isGrowing={isGrowing}
            />
          ) : (
            <Content key={index} block={part.block} />
          )
        )}
    </details>
  );
}
