// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import { asText } from '../model/input';
import type { IToolCall } from '../model/toolcall';
import { useChat } from './context';
import { CopyButton } from './copybutton';
import { Visible } from './visible';

/** What is shown of a text before somebody asks for all of it. */
const MAX_LENGTH = 4000;

export function hasRaw({ rawInput, rawOutput }: IToolCall): boolean {
  return rawInput !== undefined || rawOutput !== undefined;
}

interface IRawDetailsProps {
  call: IToolCall;
  /** There is nothing else to see: it is open from the start. */
  isAlone: boolean;
}

/** What went into a tool and came out of it, made into text when it is read. */
export function RawDetails({
  call,
  isAlone
}: IRawDetailsProps): JSX.Element | null {
  const { trans } = useChat();
  const [isOpen, setOpen] = React.useState(isAlone);
  if (!hasRaw(call)) {
    return null;
  }
  return (
    <details
      className="jp-acp-Raw"
      open={isOpen}
      onToggle={event => setOpen(event.currentTarget.open)}
    >
      <summary>{trans.__('Details')}</summary>
      {isOpen && (
        <>
          <RawValue label={trans.__('Input')} value={call.rawInput} />
          <RawValue label={trans.__('Output')} value={call.rawOutput} />
        </>
      )}
    </details>
  );
}

interface IRawValueProps {
  label: string;
  value: unknown;
}

function RawValue({ label, value }: IRawValueProps): JSX.Element | null {
  const { trans } = useChat();
  const [isWhole, setWhole] = React.useState(false);
  const text = React.useMemo(() => asText(value, 2), [value]);
  if (value === undefined) {
    return null;
  }
  const isCut = text.length > MAX_LENGTH && !isWhole;
  return (
    <section className="jp-acp-Raw-value" aria-label={label}>
      <div className="jp-acp-Raw-header">
        <span>{label}</span>
        <CopyButton text={text} label={trans.__('Copy %1', label)} />
      </div>
      <pre className="jp-acp-Text" tabIndex={0}>
        <Visible text={isCut ? text.slice(0, MAX_LENGTH) : text} />
        {isCut && '…'}
      </pre>
      {isCut && (
        <button
          type="button"
          className="jp-acp-Link"
          onClick={() => setWhole(true)}
        >
          {trans.__('Show all %1 characters', text.length.toLocaleString())}
        </button>
      )}
    </section>
  );
}
