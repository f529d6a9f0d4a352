// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import { hasHidden } from '../model/hidden';
import { inputText } from '../model/input';
import type { IPendingRequest } from '../model/session';
import { mergeToolCall, newToolCall } from '../model/toolcall';
import {
  type INamedFile,
  type IPermissionOption,
  type IPermissionParams,
  type PermissionOutcome,
  type ToolContent,
  ourMeta
} from '../protocol';
import type { IPermissionRules } from '../tokens';
import { Content } from './content';
import { useChat } from './context';
import { Location } from './location';
import { NamedFiles } from './namedfiles';
import { ToolDetails, ToolIcon, placesOf } from './toolcall';
import { Visible } from './visible';

const BUTTON_CLASS: Record<IPermissionOption['kind'], string> = {
  allow_once: 'jp-mod-accept',
  allow_always: '',
  reject_once: 'jp-mod-reject',
  reject_always: 'jp-mod-reject'
};

/** What the server has to say of a question. */
interface IExplained {
  /** What a lasting answer would mean; agents keep their own. */
  rule: Pick<IPermissionRules.IRule, 'kind' | 'match'>;
  files: INamedFile[];
  /** Whether the same stands in the content, for clients that do not know us. */
  isWarned: boolean;
}

interface IPermissionProps {
  request: IPendingRequest;
  /** The id of the agent that asks. */
  agent: string;
  isConnected: boolean;
}

/**
 * The agent asks whether it may do something. What would happen stands before
 * the buttons, and the buttons are the agent's own options.
 */
export function Permission({
  request,
  agent,
  isConnected
}: IPermissionProps): JSX.Element {
  const { trans, rules } = useChat();
  const { toolCall, options = [] } = request.params as IPermissionParams;
  const call = newToolCall(toolCall?.toolCallId ?? '');
  const explained = ourMeta<IExplained>(request.params);
  const { rule, files = [] } = explained;
  if (toolCall) {
    mergeToolCall(call, toolCall);
    if (explained.isWarned) {
      call.content = call.content.filter(part => !isWarning(part));
    }
  }
  const title = call.title || trans.__('The agent asks for permission');
  const input = inputText(call);
  const choose = ({ optionId, kind }: IPermissionOption): void => {
    const outcome: PermissionOutcome = { outcome: 'selected', optionId };
    request.answer({ outcome });
    if (rule && kind.endsWith('_always')) {
      const decision = kind === 'allow_always' ? 'allow' : 'deny';
      void rules?.add({ agent, ...rule, decision });
    }
  };
  return (
    <section
      className="jp-acp-Card"
      role="group"
      aria-label={trans.__('Permission: %1', title)}
    >
      <div className="jp-acp-Card-header">
        <ToolIcon kind={call.kind} />
        <span className="jp-acp-Card-title">
          <Visible text={title} />
        </span>
      </div>
      <div className="jp-acp-Card-body">
        {toolCall && anyHidden(toolCall) && (
          <p className="jp-acp-Card-warning" role="alert">
            {trans.__(
              'There are characters in this that cannot be seen and may make it look like something else. They are marked.'
            )}
          </p>
        )}
        <NamedFiles files={files} />
        {input && <Content block={{ type: 'text', text: input }} />}
        {placesOf(call).map((place, index) => (
          <Location key={index} {...place}>
            {place.path}
          </Location>
        ))}
        <ToolDetails call={call} isAsked />
      </div>
      <div className="jp-acp-Card-buttons">
        {options.map(option => (
          <button
            key={option.optionId}
            type="button"
            className={`jp-mod-styled ${BUTTON_CLASS[option.kind] ?? ''}`}
            disabled={!isConnected}
            onClick={() => choose(option)}
          >
            <Visible text={option.name} />
          </button>
        ))}
      </div>
    </section>
  );
}

/** Whether it is for clients that know nothing of the files that we tell of. */
function isWarning(part: ToolContent): boolean {
  return part.type === 'content' && 'risk' in ourMeta(part.content);
}

/** Whether something hides in any of the texts that are to be approved. */
function anyHidden(value: unknown): boolean {
  if (typeof value === 'string') {
    return hasHidden(value);
  }
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.values(value).some(anyHidden)
  );
}
