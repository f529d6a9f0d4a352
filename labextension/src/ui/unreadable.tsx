// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import { useChat } from './context';
import { Visible } from './visible';

/** More of it is not worth the time of the page. */
const MAX_LENGTH = 20_000;

interface IUnreadableProps {
  /** What happened. */
  label: string;
  parts: readonly unknown[];
  /** Somebody decides by it: all of it must be there. */
  isWhole?: boolean;
}

/** Data that cannot be shown in its own way, folded, as JSON. */
export function Unreadable({
  label,
  parts,
  isWhole = false
}: IUnreadableProps): JSX.Element {
  const [isOpen, setOpen] = React.useState(isWhole);
  return (
    <details
      className="jp-acp-Unreadable"
      open={isOpen}
      onToggle={event => setOpen(event.currentTarget.open)}
    >
      <summary>{label}</summary>
      {isOpen &&
        parts.map((part, index) => (
          <pre key={index} className="jp-acp-Text" tabIndex={0}>
            <Visible text={toJson(part, isWhole)} />
          </pre>
        ))}
    </details>
  );
}

/** Parts of what an agent sent. */
export function Dropped(props: Omit<IUnreadableProps, 'label'>): JSX.Element {
  const { trans } = useChat();
  return (
    <Unreadable
      {...props}
      label={trans.__('The agent sent something that cannot be shown')}
    />
  );
}

function toJson(value: unknown, isWhole: boolean): string {
  try {
    const text = JSON.stringify(value, null, 2) ?? String(value);
    return text.length > MAX_LENGTH && !isWhole
      ? `${text.slice(0, MAX_LENGTH)}…`
      : text;
  } catch (error) {
    return String(error);
  }
}
