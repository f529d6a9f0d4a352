// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import { hasHidden } from '../model/hidden';
import { inputText } from '../model/input';
import { meaningOf } from '../model/options';
import type { IPendingRequest } from '../model/session';
import { type IToolCall, mergeToolCall, newToolCall } from '../model/toolcall';
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

/** A map, for agents choose the kind, and one may choose `constructor`. */
const BUTTON_CLASSES = new Map<string, string>([
  ['allow_once', 'jp-mod-accept'],
  ['reject_once', 'jp-mod-reject'],
  ['reject_always', 'jp-mod-reject']
]);

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
  const { rule, files = [] } = ourMeta<IExplained>(request.params);
  const call = React.useMemo(() => callOf(request.params), [request.params]);
  const input = React.useMemo(() => inputText(call), [call]);
  const title = call.title || trans.__('The agent asks for permission');
  const choose = ({ optionId, kind }: IPermissionOption): void => {
    const outcome: PermissionOutcome = { outcome: 'selected', optionId };
    request.answer({ outcome });
    if (rule && ['allow_always', 'reject_always'].includes(kind)) {
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
        {options.map((option, index) => (
          <Option
            key={index}
            option={option}
            isDisabled={!isConnected}
            onChoose={() => choose(option)}
          />
        ))}
      </div>
    </section>
  );
}

interface IOptionProps {
  option: IPermissionOption;
  isDisabled: boolean;
  onChoose: () => void;
}

/** A button with the agent's words, and with ours where those could mislead. */
function Option({ option, isDisabled, onChoose }: IOptionProps): JSX.Element {
  const { trans } = useChat();
  const meaning = meaningOf(option, trans);
  return (
    <button
      type="button"
      className={`jp-mod-styled ${BUTTON_CLASSES.get(option.kind) ?? ''}`}
      disabled={isDisabled}
      onClick={onChoose}
    >
      <span className="jp-acp-Option-name">
        <Visible text={String(option.name ?? '')} />
      </span>
      {meaning && <span className="jp-acp-Option-meaning">{meaning}</span>}
    </button>
  );
}

/** What would be done, without the warnings that we tell in our own way. */
function callOf(params: unknown): IToolCall {
  const { toolCall } = params as IPermissionParams;
  const call = newToolCall(toolCall?.toolCallId ?? '');
  if (toolCall) {
    mergeToolCall(call, toolCall);
    if (ourMeta<IExplained>(params).isWarned) {
      call.content = call.content.filter(part => !isWarning(part));
    }
  }
  return call;
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
