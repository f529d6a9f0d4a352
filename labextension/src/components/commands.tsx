// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import type { IAvailableCommand } from '../protocol';
import { useChat } from './context';

/** What the prompt needs to offer the agent's commands while one is typed. */
export interface ICommandCompletion {
  matches: readonly IAvailableCommand[];
  selected: number;
  /** Returns whether the key was meant for the list. */
  onKeyDown(event: React.KeyboardEvent): boolean;
  choose(command: IAvailableCommand): void;
}

/**
 * Completes a slash command. Enter completes what is half typed and leaves a
 * whole command alone, so that it is sent.
 */
export function useCommandCompletion(
  commands: readonly IAvailableCommand[],
  draft: string,
  setDraft: (text: string) => void
): ICommandCompletion {
  const [selected, setSelected] = React.useState(0);
  const [dismissed, setDismissed] = React.useState('');
  const typed = /^\/(\S*)$/.exec(draft)?.[1];
  const matches =
    typed === undefined || draft === dismissed
      ? []
      : commands.filter(command => command.name.startsWith(typed));
  const current = matches[Math.min(selected, matches.length - 1)];

  const choose = (command: IAvailableCommand) => {
    setSelected(0);
    setDraft(command.input ? `/${command.name} ` : `/${command.name}`);
  };
  const onKeyDown = (event: React.KeyboardEvent): boolean => {
    if (!current) {
      return false;
    }
    const index = matches.indexOf(current);
    switch (event.key) {
      case 'ArrowDown':
        setSelected((index + 1) % matches.length);
        return true;
      case 'ArrowUp':
        setSelected((index + matches.length - 1) % matches.length);
        return true;
      case 'Escape':
        setDismissed(draft);
        return true;
      case 'Tab':
      case 'Enter':
        if (event.shiftKey || current.name === typed) {
          return false;
        }
        choose(current);
        return true;
      default:
        return false;
    }
  };
  return { matches, selected: matches.indexOf(current), onKeyDown, choose };
}

interface ICommandListProps {
  id: string;
  completion: ICommandCompletion;
}

/** The commands that fit what was typed, above the prompt. */
export function CommandList({
  id,
  completion
}: ICommandListProps): JSX.Element {
  const { trans } = useChat();
  const { matches, selected, choose } = completion;
  const list = React.useRef<HTMLUListElement>(null);
  React.useEffect(() => {
    list.current?.children[selected]?.scrollIntoView({ block: 'nearest' });
  }, [selected]);
  return (
    <ul
      ref={list}
      id={id}
      className="jp-acp-Commands"
      role="listbox"
      tabIndex={0}
      aria-label={trans.__('Commands of the agent')}
    >
      {matches.map((command, index) => (
        <li
          key={command.name}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === selected}
          className="jp-acp-Commands-item"
          // The prompt must keep the focus: the list lives while it is typed.
          onMouseDown={event => event.preventDefault()}
          onClick={() => choose(command)}
        >
          <span className="jp-acp-Commands-name">
            /{command.name}
            {command.input?.hint && (
              <span className="jp-acp-Commands-hint">
                {' '}
                {command.input.hint}
              </span>
            )}
          </span>
          {command.description && (
            <span className="jp-acp-Commands-detail">
              {command.description}
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}
