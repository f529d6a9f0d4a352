// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import {
  type LabIcon,
  checkIcon,
  clearIcon,
  infoIcon
} from '@jupyterlab/ui-components';
import * as React from 'react';

import { hasHidden } from '../model/hidden';
import { asText, inputText } from '../model/input';
import { keyOf, meaningOf, ordered } from '../model/options';
import { isJsonTitle, requestWords } from '../model/owntools';
import type { IPendingRequest } from '../model/session';
import {
  type IToolCall,
  mergeToolCall,
  newToolCall,
  placesOf
} from '../model/toolcall';
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
import { ToolDetails, ToolIcon } from './toolcall';
import { Visible } from './visible';

/** A map, for agents choose the kind, and one may choose `constructor`. */
const BUTTON_CLASSES = new Map<string, string>([
  ['allow_once', 'jp-mod-accept'],
  ['reject_once', 'jp-mod-reject'],
  ['reject_always', 'jp-mod-reject']
]);

/** What an option really does, where its words could mislead. */
const MARKS = new Map<string, LabIcon>([
  ['allow_once', checkIcon],
  ['allow_always', checkIcon],
  ['reject_once', clearIcon],
  ['reject_always', clearIcon]
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
  /** It is about to be answered with a key, and to leave. */
  onKey: () => void;
}

/**
 * The agent asks whether it may do something. What would happen stands before
 * the buttons, and the buttons are the agent's own options.
 */
export function Permission({
  request,
  agent,
  isConnected,
  onKey
}: IPermissionProps): JSX.Element {
  const { trans, rules } = useChat();
  const { toolCall, options: given = [] } = request.params as IPermissionParams;
  const { rule, files = [] } = ourMeta<IExplained>(request.params);
  const call = React.useMemo(() => callOf(request.params), [request.params]);
  const input = React.useMemo(() => inputText(call), [call]);
  const options = React.useMemo(() => ordered(given), [given]);
  const title =
    requestWords(request.params, trans) ||
    trans.__('The agent asks for permission');
  const choose = ({ optionId, kind }: IPermissionOption): void => {
    const outcome: PermissionOutcome = { outcome: 'selected', optionId };
    request.answer({ outcome });
    if (rule && ['allow_always', 'reject_always'].includes(kind)) {
      const decision = kind === 'allow_always' ? 'allow' : 'deny';
      void rules?.add({ agent, ...rule, decision });
    }
  };
  const onKeyDown = (event: React.KeyboardEvent): void => {
    // A key that is held down must not answer what comes next.
    const isPlain = !(
      event.ctrlKey ||
      event.altKey ||
      event.metaKey ||
      event.shiftKey ||
      event.repeat ||
      event.nativeEvent.isComposing
    );
    const option = options.find(each => keyOf(each, options) === event.key);
    if (isPlain && option && isConnected && !isField(event.target)) {
      event.preventDefault();
      event.stopPropagation();
      onKey();
      choose(option);
    }
  };
  return (
    <section
      className="jp-acp-Card"
      role="group"
      aria-label={trans.__('Permission: %1', title)}
      tabIndex={-1}
      onKeyDown={onKeyDown}
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
            shortcut={keyOf(option, options)}
            isDisabled={!isConnected}
            onChoose={isPressed => {
              if (isPressed) {
                onKey();
              }
              choose(option);
            }}
          />
        ))}
      </div>
    </section>
  );
}

/** Whether somebody writes there: then a letter is a letter. */
function isField(target: EventTarget): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches('input, textarea, select'))
  );
}

interface IOptionProps {
  option: IPermissionOption;
  /** The key that chooses it while the focus is in the card. */
  shortcut?: string;
  isDisabled: boolean;
  /** Called with whether it was pressed with a key. */
  onChoose: (isPressed: boolean) => void;
}

/** A button with the agent's words, and with a mark where those could mislead. */
function Option({
  option,
  shortcut,
  isDisabled,
  onChoose
}: IOptionProps): JSX.Element {
  const { trans } = useChat();
  const meaning = meaningOf(option, trans);
  const description = React.useId();
  const hints = [meaning, shortcut && trans.__('Key: %1', shortcut)];
  const Mark = MARKS.get(option.kind) ?? infoIcon;
  return (
    <>
      <button
        type="button"
        className={`jp-mod-styled ${BUTTON_CLASSES.get(option.kind) ?? ''}`}
        disabled={isDisabled}
        title={hints.filter(Boolean).join(' · ') || undefined}
        aria-keyshortcuts={shortcut}
        aria-describedby={meaning ? description : undefined}
        // A click that a key made has no place.
        onClick={event => onChoose(event.detail === 0)}
      >
        <span className="jp-acp-Option-name">
          <Visible text={String(option.name ?? '')} />
        </span>
        {meaning && <Mark.react tag="span" className="jp-acp-Option-mark" />}
      </button>
      {meaning && (
        <span id={description} hidden>
          {meaning}
        </span>
      )}
    </>
  );
}

/** What would be done, without the warnings that we tell in our own way. */
function callOf(params: unknown): IToolCall {
  const { toolCall } = params as IPermissionParams;
  const call = newToolCall(toolCall?.toolCallId ?? '');
  if (toolCall) {
    mergeToolCall(call, toolCall);
    if (isJsonTitle(call.title)) {
      // It is what the tool would be called with, and read as such.
      call.content = withTitle(call);
    }
    if (ourMeta<IExplained>(params).isWarned) {
      call.content = call.content.filter(part => !isWarning(part));
    }
  }
  return call;
}

/** What a call shows, and its title where that is neither words nor the input. */
function withTitle({ title, content, rawInput }: IToolCall): ToolContent[] {
  const isTold = ['{}', '[]', asText(rawInput), asText(rawInput, 2)];
  return isTold.includes(title.trim())
    ? content
    : [{ type: 'content', content: { type: 'text', text: title } }, ...content];
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
