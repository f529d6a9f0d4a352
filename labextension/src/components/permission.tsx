// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import type { IPendingRequest } from '../model/session';
import { mergeToolCall, newToolCall } from '../model/toolcall';
import type {
  IPermissionOption,
  IPermissionParams,
  PermissionOutcome
} from '../protocol';
import { useChat } from './context';
import { ToolDetails, ToolIcon } from './toolcall';

const BUTTON_CLASS: Record<IPermissionOption['kind'], string> = {
  allow_once: 'jp-mod-accept',
  allow_always: '',
  reject_once: 'jp-mod-reject',
  reject_always: 'jp-mod-reject'
};

interface IPermissionProps {
  request: IPendingRequest;
  isConnected: boolean;
}

/**
 * The agent asks whether it may do something. What would happen stands before
 * the buttons, and the buttons are the agent's own options.
 */
export function Permission({
  request,
  isConnected
}: IPermissionProps): JSX.Element {
  const { trans } = useChat();
  const { toolCall, options = [] } = request.params as IPermissionParams;
  const call = newToolCall(toolCall?.toolCallId ?? '');
  if (toolCall) {
    mergeToolCall(call, toolCall);
  }
  const title = call.title || trans.__('The agent asks for permission');
  const answer = (outcome: PermissionOutcome) => request.answer({ outcome });
  return (
    <section
      className="jp-acp-Card"
      role="group"
      aria-label={trans.__('Permission: %1', title)}
    >
      <div className="jp-acp-Card-header">
        <ToolIcon kind={call.kind} />
        <span className="jp-acp-Card-title">{title}</span>
      </div>
      <div className="jp-acp-Card-body">
        <RawInput value={call.content.length ? undefined : call.rawInput} />
        <ToolDetails call={call} />
      </div>
      <div className="jp-acp-Card-buttons">
        {options.map(option => (
          <button
            key={option.optionId}
            type="button"
            className={`jp-mod-styled ${BUTTON_CLASS[option.kind] ?? ''}`}
            disabled={!isConnected}
            onClick={() =>
              answer({ outcome: 'selected', optionId: option.optionId })
            }
          >
            {option.name}
          </button>
        ))}
      </div>
    </section>
  );
}

/** What the tool was called with, for agents that send nothing better. */
function RawInput({ value }: { value: unknown }): JSX.Element {
  if (value === undefined || value === null) {
    return <></>;
  }
  const command = (value as { command?: unknown }).command;
  const text =
    typeof command === 'string' ? command : JSON.stringify(value, null, 2);
  return <pre className="jp-acp-Text">{text}</pre>;
}
