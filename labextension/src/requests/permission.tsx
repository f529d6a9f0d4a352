// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Notification } from '@jupyterlab/apputils';
import {
  type LabIcon,
  checkIcon,
  clearIcon,
  infoIcon
} from '@jupyterlab/ui-components';
import * as React from 'react';
import type { RequestPermissionOutcome } from '@agentclientprotocol/sdk';

import type { IPermission, IPermissionOption } from '../decode/questions';
import { placesOf } from '../tools/call';
import { inputText } from '../tools/input';
import { permissionWords } from '../tools/owntools';
import { ToolParts } from '../tools/parts';
import { ToolIcon } from '../tools/toolcall';
import { Content } from '../ui/content';
import { useChat } from '../ui/context';
import { Location } from '../ui/location';
import { Dropped } from '../ui/unreadable';
import { Visible } from '../ui/visible';
import { NamedFiles } from './namedfiles';
import { keyOf, meaningOf, ordered } from './options';
import { askedOf } from './question';
import type { IPendingRequest } from './request';

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

interface IPermissionProps {
  request: IPendingRequest;
  question: IPermission;
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
  question,
  agent,
  isConnected,
  onKey
}: IPermissionProps): JSX.Element {
  const { trans, rules } = useChat();
  const { options: given, explained } = question;
  const { rule, files = [] } = explained;
  const { call, isHiding } = React.useMemo(
    () => askedOf(question, request.dropped),
    [question, request.dropped]
  );
  const input = React.useMemo(() => inputText(call), [call]);
  const options = React.useMemo(() => ordered(given), [given]);
  const title =
    permissionWords(question, trans) ||
    trans.__('The agent asks for permission');
  const choose = ({ optionId, kind }: IPermissionOption): void => {
    const outcome: RequestPermissionOutcome = { outcome: 'selected', optionId };
    request.answer({ outcome });
    if (rule && ['allow_always', 'reject_always'].includes(kind)) {
      const decision = kind === 'allow_always' ? 'allow' : 'deny';
      rules?.add({ agent, ...rule, decision }).catch((error: Error) => {
        // The card is gone by now. Last comes what may be cut: long commands.
        Notification.error(
          decision === 'allow'
            ? trans.__(
                'Your answer was sent, but "always allow" was not saved (%1) for %2',
                error.message,
                rule.match
              )
            : trans.__(
                'Your answer was sent, but "always reject" was not saved (%1) for %2',
                error.message,
                rule.match
              ),
          { autoClose: false }
        );
      });
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
        {isHiding && (
          <p className="jp-acp-Card-warning" role="alert">
            {trans.__(
              'This request contains invisible characters that can disguise its content. They are marked.'
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
        <ToolParts call={call} revision={0} isAsked />
        {request.dropped.length > 0 && (
          <Dropped parts={request.dropped} isWhole />
        )}
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
          <Visible text={option.name} />
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
