// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import type { IRemoteResult, ResultAction } from '../protocol';
import { useChat } from '../ui/context';
import { useConnectionStatus } from '../ui/status';
import { useResults } from './context';

interface IResultActionsProps {
  result: IRemoteResult;
  /** Something is being done with it. */
  isBusy: boolean;
  /** Do something, and show how it goes. */
  run: (work: () => Promise<void>) => void;
}

/** What can be done with a result as it stands. */
export function ResultActions({
  result,
  isBusy,
  run
}: IResultActionsProps): JSX.Element | null {
  const { trans } = useChat();
  const results = useResults();
  const isConnected = useConnectionStatus() === 'connected';
  const { number, state, undo } = result;
  const isDisabled = isBusy || !isConnected;
  const act = (action: ResultAction, branch?: string): void =>
    run(() => results.act(number, action, branch));
  const button = (label: string, work: () => Promise<void>): JSX.Element => (
    <div className="jp-acp-Card-buttons">
      <button
        type="button"
        className="jp-mod-styled"
        disabled={isDisabled}
        onClick={() => run(work)}
      >
        {label}
      </button>
    </div>
  );
  switch (state) {
    case 'there':
      return button(trans.__('Fetch'), () => results.fetch(number));
    case 'fetching':
      return button(trans.__('Stop fetching'), () => results.stop(number));
    case 'failed':
      return button(trans.__('Try again'), () => results.fetch(number));
    case 'ready':
      return <Decision result={result} isDisabled={isDisabled} act={act} />;
    case 'discarded':
      // The branch is still on the remote.
      return button(trans.__('Fetch Again'), () => results.fetch(number));
    default:
      return undo
        ? button(trans.__('Undo'), () => results.act(number, 'undo'))
        : null;
  }
}

interface IDecisionProps {
  result: IRemoteResult;
  isDisabled: boolean;
  act: (action: ResultAction, branch?: string) => void;
}

/** The ways to take a result, or to leave it; two of them ask something first. */
function Decision({ result, isDisabled, act }: IDecisionProps): JSX.Element {
  const { trans } = useChat();
  const [asks, setAsks] = React.useState<'checkout' | 'discard' | null>(null);
  const opener = React.useRef<HTMLButtonElement | null>(null);
  const { number, target } = result;
  const ask = (
    what: 'checkout' | 'discard',
    button: HTMLButtonElement
  ): void => {
    opener.current = button;
    setAsks(asks === what ? null : what);
  };
  const done = (): void => {
    setAsks(null);
    opener.current?.focus();
  };
  const of = (label: string): string =>
    trans.__('%1: result %2', label, number);
  const choice = (
    label: string,
    title: string,
    onClick: React.MouseEventHandler<HTMLButtonElement>,
    more: React.ComponentProps<'button'> = {}
  ): JSX.Element => (
    <button
      type="button"
      className="jp-mod-styled"
      title={title}
      aria-label={of(label)}
      disabled={isDisabled}
      onClick={onClick}
      {...more}
    >
      {label}
    </button>
  );
  return (
    <>
      <div
        className="jp-acp-Card-buttons"
        role="group"
        aria-label={trans.__('Actions for result %1', number)}
      >
        {choice(
          trans.__('Merge'),
          trans.__('Merge the result into the current branch'),
          () => act('merge'),
          { className: 'jp-mod-styled jp-mod-accept' }
        )}
        {choice(
          trans.__('Apply to Working Tree'),
          trans.__(
            'Apply the changes to your files and stage them without a commit'
          ),
          () => act('pick')
        )}
        {choice(
          trans.__('Check Out as a Branch'),
          trans.__('Create a branch from the result and switch to it'),
          event => ask('checkout', event.currentTarget),
          { 'aria-expanded': asks === 'checkout' }
        )}
        {choice(
          trans.__('Discard'),
          trans.__(
            'Discard the result; your files and the remote branch are not changed'
          ),
          event => ask('discard', event.currentTarget),
          { 'aria-expanded': asks === 'discard' }
        )}
      </div>
      {asks === 'checkout' && (
        <BranchName
          name={target.branch}
          isDisabled={isDisabled}
          onDone={name => act('checkout', name)}
          onCancel={done}
        />
      )}
      {asks === 'discard' && (
        <Confirm
          isDisabled={isDisabled}
          onDone={() => act('discard')}
          onCancel={done}
        />
      )}
    </>
  );
}

interface IAskProps {
  isDisabled: boolean;
  onCancel: () => void;
}

/** Escape is another way to say no. */
function onEscape(work: () => void): React.KeyboardEventHandler {
  return event => {
    if (event.key === 'Escape') {
      event.preventDefault();
      event.stopPropagation();
      work();
    }
  };
}

interface IBranchNameProps extends IAskProps {
  name: string;
  onDone: (name: string) => void;
}

function BranchName({
  name,
  isDisabled,
  onDone,
  onCancel
}: IBranchNameProps): JSX.Element {
  const { trans } = useChat();
  const id = React.useId();
  const field = React.useRef<HTMLInputElement>(null);
  const [wanted, setWanted] = React.useState(name);
  React.useEffect(() => field.current?.select(), []);
  return (
    <form
      className="jp-acp-Result-ask"
      onKeyDown={onEscape(onCancel)}
      onSubmit={event => {
        event.preventDefault();
        onDone(wanted.trim());
      }}
    >
      <div className="jp-acp-Field">
        <label htmlFor={id}>{trans.__('Branch name')}</label>
        <input
          ref={field}
          id={id}
          className="jp-mod-styled"
          value={wanted}
          spellCheck={false}
          disabled={isDisabled}
          onChange={event => setWanted(event.target.value)}
        />
      </div>
      <div className="jp-acp-Card-buttons">
        <button
          type="submit"
          className="jp-mod-styled jp-mod-accept"
          disabled={isDisabled || !wanted.trim()}
        >
          {trans.__('Check Out')}
        </button>
        <button type="button" className="jp-mod-styled" onClick={onCancel}>
          {trans.__('Cancel')}
        </button>
      </div>
    </form>
  );
}

interface IConfirmProps extends IAskProps {
  onDone: () => void;
}

function Confirm({ isDisabled, onDone, onCancel }: IConfirmProps): JSX.Element {
  const { trans } = useChat();
  const words = React.useId();
  const yes = React.useRef<HTMLButtonElement>(null);
  React.useEffect(() => yes.current?.focus(), []);
  return (
    <div
      className="jp-acp-Result-ask"
      role="group"
      aria-labelledby={words}
      onKeyDown={onEscape(onCancel)}
    >
      <span id={words}>
        {trans.__(
          'Discard this result? Your files and the remote branch are not changed.'
        )}
      </span>
      <div className="jp-acp-Card-buttons">
        <button
          ref={yes}
          type="button"
          className="jp-mod-styled jp-mod-warn"
          disabled={isDisabled}
          onClick={onDone}
        >
          {trans.__('Discard')}
        </button>
        <button type="button" className="jp-mod-styled" onClick={onCancel}>
          {trans.__('Keep')}
        </button>
      </div>
    </div>
  );
}
