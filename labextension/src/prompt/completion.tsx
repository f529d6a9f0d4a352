// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

/** Something that can be put in the place of what was typed so far. */
export interface ICompletionItem {
  key: string;
  name: string;
  /** What may follow it. */
  hint?: string;
  detail?: string;
  /** Whether it is what was typed, so that Enter is free to send. */
  isTyped?: boolean;
  choose(): void;
}

export interface ICompletion {
  label: string;
  items: readonly ICompletionItem[];
  selected: number;
  /** True if Enter chooses. */
  isChoosing: boolean;
  /** Returns whether the key was meant for the list. */
  onKeyDown(event: React.KeyboardEvent): boolean;
}

/**
 * A list that is worked with while the focus stays in the prompt. Enter takes
 * what is half typed and leaves what is whole alone, so that it is sent.
 */
export function useCompletion(
  label: string,
  items: readonly ICompletionItem[],
  typed: string
): ICompletion {
  const [selected, setSelected] = React.useState(0);
  const [dismissed, setDismissed] = React.useState<string | null>(null);
  React.useEffect(() => setSelected(0), [typed]);
  const shown = typed === dismissed ? [] : items;
  const index = Math.min(selected, shown.length - 1);
  const onKeyDown = (event: React.KeyboardEvent): boolean => {
    const item = shown[index] as ICompletionItem | undefined;
    if (!item) {
      return false;
    }
    switch (event.key) {
      case 'ArrowDown':
        setSelected((index + 1) % shown.length);
        return true;
      case 'ArrowUp':
        setSelected((index + shown.length - 1) % shown.length);
        return true;
      case 'Escape':
        setDismissed(typed);
        return true;
      case 'Tab':
      case 'Enter':
        if (event.shiftKey || item.isTyped) {
          return false;
        }
        item.choose();
        return true;
      default:
        return false;
    }
  };
  const isChoosing = index >= 0 && !shown[index].isTyped;
  return { label, items: shown, selected: index, isChoosing, onKeyDown };
}

interface ICompletionListProps {
  id: string;
  completion: ICompletion;
}

/** What fits what was typed, above the prompt. */
export function CompletionList({
  id,
  completion
}: ICompletionListProps): JSX.Element {
  const { label, items, selected } = completion;
  const list = React.useRef<HTMLUListElement>(null);
  React.useEffect(() => {
    list.current?.children[selected]?.scrollIntoView({ block: 'nearest' });
  }, [selected]);
  return (
    <ul
      ref={list}
      id={id}
      className="jp-acp-Completion"
      role="listbox"
      tabIndex={0}
      aria-label={label}
    >
      {items.map((item, index) => (
        <li
          key={item.key}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === selected}
          className="jp-acp-Completion-item"
          // The prompt must keep the focus: the list lives while it is typed.
          onMouseDown={event => event.preventDefault()}
          onClick={() => item.choose()}
        >
          <span className="jp-acp-Completion-name">
            {item.name}
            {item.hint && (
              <span className="jp-acp-Completion-hint"> {item.hint}</span>
            )}
          </span>
          {item.detail && (
            <span className="jp-acp-Completion-detail">{item.detail}</span>
          )}
        </li>
      ))}
    </ul>
  );
}
