// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Button, refreshIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import type { IAgent } from '../protocol';
import { useChat } from '../ui/context';
import { useFrameUpdates, useRender } from '../ui/hooks';
import { Problem } from '../ui/status';
import { RemoteChoices } from './choice';
import { GitProgressBar } from './gitprogress';
import { Repository } from './repository';
import type { RemoteSetup } from './setup';

interface IRemotePageProps {
  setup: RemoteSetup;
  agents: readonly IAgent[];
  onStart: () => void;
  onClose: () => void;
}

/** What to know, and what to decide, before an agent works on a repository. */
export function RemotePage({
  setup,
  agents,
  onStart,
  onClose
}: IRemotePageProps): JSX.Element {
  const { trans } = useChat();
  useFrameUpdates(setup.changed);
  const title = React.useId();
  const cancel = React.useRef<HTMLButtonElement>(null);
  const { found, step } = setup;
  React.useEffect(() => {
    if (!setup.found && !setup.isLooking) {
      void setup.look();
    }
  }, [setup]);
  return (
    <section className="jp-acp-Remote" aria-labelledby={title}>
      <h2 id={title} className="jp-acp-Login-title">
        {trans.__('New remote session')}
      </h2>
      <p className="jp-acp-Hint">
        {trans.__(
          'The agent works on a copy of a git repository and returns its work as a branch that you can review and merge.'
        )}
      </p>
      <form
        className="jp-acp-Remote-form"
        aria-busy={setup.isLooking || step !== null}
        onSubmit={event => {
          event.preventDefault();
          // The button is about to be disabled, and must not take the focus with it.
          cancel.current?.focus();
          onStart();
        }}
      >
        {/* A fieldset, so that nothing of it can be changed on the way. */}
        <fieldset className="jp-acp-Remote-fields" disabled={step !== null}>
          <Folder setup={setup} />
          <p className="jp-acp-Hint" role="status">
            {setup.isLooking && trans.__('Inspecting the repository…')}
          </p>
          {found && (
            <>
              <Repository found={found} revision={setup.revision} />
              <RemoteChoices setup={setup} />
              <AgentField setup={setup} agents={agents} />
            </>
          )}
        </fieldset>
        <Problem text={setup.problem}>
          <Button
            minimal
            small
            type="button"
            onClick={() => (found ? onStart() : void setup.look())}
          >
            {trans.__('Try again')}
          </Button>
        </Problem>
        {step && (
          <GitProgressBar
            label={
              step === 'push'
                ? trans.__('Pushing your work…')
                : trans.__('Fetching the repository and starting the agent…')
            }
            progress={setup.progress}
          />
        )}
        <div className="jp-acp-Card-buttons">
          <button
            type="submit"
            className="jp-mod-styled jp-mod-accept"
            disabled={!setup.canStart}
          >
            {trans.__('Start')}
          </button>
          <button
            ref={cancel}
            type="button"
            className="jp-mod-styled jp-mod-reject"
            onClick={() => (step ? setup.cancel() : onClose())}
          >
            {trans.__('Cancel')}
          </button>
        </div>
      </form>
    </section>
  );
}

/** Which folder it is about; another one is looked at when it is entered. */
function Folder({ setup }: { setup: RemoteSetup }): JSX.Element {
  const { trans } = useChat();
  const id = React.useId();
  const field = React.useRef<HTMLInputElement>(null);
  React.useEffect(() => field.current?.focus(), []);
  const look = (): void => {
    void setup.look(field.current!.value);
    field.current!.value = setup.folder;
  };
  return (
    <div className="jp-acp-Field">
      <label htmlFor={id}>{trans.__('Folder')}</label>
      <div className="jp-acp-Remote-folder">
        <input
          ref={field}
          id={id}
          className="jp-mod-styled"
          defaultValue={setup.folder}
          placeholder={trans.__('Root folder')}
          spellCheck={false}
          onKeyDown={event => {
            if (event.key === 'Enter') {
              // It would start with what was found in another folder.
              event.preventDefault();
              look();
            }
          }}
          onBlur={event => {
            if (event.target.value !== setup.folder) {
              look();
            }
          }}
        />
        <Button
          minimal
          small
          type="button"
          title={trans.__('Refresh')}
          aria-label={trans.__('Refresh')}
          disabled={setup.isLooking}
          onClick={look}
        >
          <refreshIcon.react tag="span" />
        </Button>
      </div>
    </div>
  );
}

interface IAgentFieldProps {
  setup: RemoteSetup;
  agents: readonly IAgent[];
}

function AgentField({ setup, agents }: IAgentFieldProps): JSX.Element {
  const { trans } = useChat();
  const render = useRender();
  const id = React.useId();
  const ready = agents
    .filter(agent => agent.available || agent.id === setup.agent)
    .sort((one, other) => Number(!one.default) - Number(!other.default));
  return (
    <div className="jp-acp-Field">
      <label htmlFor={id}>{trans.__('Agent')}</label>
      <select
        id={id}
        className="jp-mod-styled"
        value={setup.agent ?? ready[0]?.id}
        onChange={event => {
          setup.agent = event.target.value;
          render();
        }}
      >
        {ready.map(agent => (
          <option key={agent.id} value={agent.id}>
            {agent.name}
          </option>
        ))}
      </select>
    </div>
  );
}

interface IRemoteStripProps {
  setup: RemoteSetup;
  onShow: () => void;
}

/** The same in one line, for who has gone elsewhere while it begins. */
export function RemoteStrip({
  setup,
  onShow
}: IRemoteStripProps): JSX.Element | null {
  const { trans } = useChat();
  useFrameUpdates(setup.changed);
  const { step, progress, problem } = setup;
  if (!step && !problem) {
    return null;
  }
  const words = step
    ? trans.__('A remote session is being started.')
    : trans.__('The remote session was not started.');
  return (
    <p className="jp-acp-Hint jp-acp-Remote-strip">
      <span role="status">{words}</span>
      {typeof progress?.percent === 'number' && (
        <span>{trans.__('%1 %', progress.percent)}</span>
      )}
      <button type="button" className="jp-acp-Link" onClick={onShow}>
        {trans.__('Show')}
      </button>
    </p>
  );
}
