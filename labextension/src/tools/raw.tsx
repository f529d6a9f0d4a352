// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import { useChat } from '../ui/context';
import { CopyButton } from '../ui/copybutton';
import { Visible } from '../ui/visible';
import { asText } from './input';
import type { IToolItem } from './items';
import { shownTool } from './shown';

/** What is shown of a text before somebody asks for all of it. */
const MAX_LENGTH = 4000;

export function hasRaw({ call, record, isRuled }: IToolItem): boolean {
  const { rawInput, rawOutput } = call;
  return isRuled || [rawInput, rawOutput, record?.arguments].some(isSomething);
}

/** An empty object says nothing. */
function isSomething(value: unknown): boolean {
  return value !== undefined && asText(value) !== '{}';
}

/** Nothing else is to be seen: it is open from the start. */
function isAlone({ call, record }: IToolItem): boolean {
  const { content, status, terminals } = call;
  return (
    content.length === 0 &&
    Object.keys(terminals).length === 0 &&
    (record ? record.status === 'in_progress' : status !== 'failed')
  );
}

interface IRawDetailsProps {
  item: IToolItem;
  /** What the agent shows of it, where the row shows something better. */
  children?: React.ReactNode;
}

/** What went into a tool and came out of it, made into text when it is read. */
export function RawDetails({
  item,
  children
}: IRawDetailsProps): JSX.Element | null {
  const { trans } = useChat();
  const [isOpen, setOpen] = React.useState(isAlone(item));
  const { title } = shownTool(item, trans);
  if (!hasRaw(item) && !children) {
    return null;
  }
  const { call, record, isRuled } = item;
  return (
    <details
      className="jp-acp-Raw"
      open={isOpen}
      onToggle={event => setOpen(event.currentTarget.open)}
    >
      <summary>{trans.__('Details')}</summary>
      {isOpen && (
        <>
          {isRuled && (
            <p className="jp-acp-Quiet">
              {trans.__(
                "The server answered the agent's permission request, because its own rules apply to this tool."
              )}
            </p>
          )}
          {call.title && call.title !== title && (
            <p className="jp-acp-Quiet">
              {trans.__('Title from the agent:')}{' '}
              <code>
                <Visible text={call.title} />
              </code>
            </p>
          )}
          <RawValue
            label={trans.__('Input')}
            value={call.rawInput ?? record?.arguments}
          />
          <RawValue label={trans.__('Output')} value={call.rawOutput} />
          {children}
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
  if (!isSomething(value)) {
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
