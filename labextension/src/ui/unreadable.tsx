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
}

/** Data that cannot be shown in its own way, folded, as JSON. */
export function Unreadable({ label, parts }: IUnreadableProps): JSX.Element {
  const [isOpen, setOpen] = React.useState(false);
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
            <Visible text={toJson(part)} />
          </pre>
        ))}
    </details>
  );
}

/** Parts of what an agent sent. */
export function Dropped({
  parts
}: Pick<IUnreadableProps, 'parts'>): JSX.Element {
  const { trans } = useChat();
  return (
    <Unreadable
      label={trans.__('The agent sent something that cannot be shown')}
      parts={parts}
    />
  );
}

function toJson(value: unknown): string {
  try {
    const text = JSON.stringify(value, null, 2) ?? String(value);
    return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
  } catch (error) {
    return String(error);
  }
}
