// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Clipboard } from '@jupyterlab/apputils';
import { Button, copyIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import { AgentActions } from '../agents/actions';
import type { IAgent } from '../protocol';
import { useSessions } from '../sessions/context';
import { SessionListView } from '../sessions/listview';
import { Watching } from '../sessions/watching';
import { useChat } from '../ui/context';
import { type ILoaded, useFrameUpdates } from '../ui/hooks';
import { agentIcon, remoteIcon } from '../ui/icons';
import { Problem } from '../ui/status';

interface IWelcomeProps {
  agents: ILoaded<IAgent[]>;
  /** Whether one is being started: once is enough. */
  isStarting: boolean;
  onNew: (agent: string) => void;
}

/** The page without a session: who is there, and what was begun before. */
export function Welcome({
  agents,
  isStarting,
  onNew
}: IWelcomeProps): JSX.Element {
  const { sessions, trans } = useSessions();
  const { isGuest, list } = sessions;
  useFrameUpdates(list.changed);
  // An agent may have been installed since the page was last shown.
  const { reload } = agents;
  React.useEffect(() => reload(), [reload]);
  const ready = agents.value?.filter(agent => agent.available) ?? [];
  const missing = agents.value?.filter(agent => !agent.available) ?? [];
  const problem = agents.error || list.problem;

  return (
    <div className="jp-acp-Welcome">
      <Problem
        text={problem && trans.__('The list could not be loaded: %1', problem)}
      >
        <button
          type="button"
          className="jp-mod-styled"
          onClick={() => {
            agents.reload();
            void list.load();
          }}
        >
          {trans.__('Try again')}
        </button>
      </Problem>
      {isGuest ? (
        <Watching />
      ) : (
        <Start
          agents={agents}
          ready={ready}
          isStarting={isStarting}
          onNew={onNew}
        />
      )}
      <SessionListView agents={agents.value ?? []} />
      {missing.length > 0 && !isGuest && (
        <section aria-labelledby="jp-acp-more">
          <details>
            <summary id="jp-acp-more" className="jp-acp-Heading">
              {trans.__('More agents')}
              <span className="jp-acp-Badge">{missing.length}</span>
            </summary>
            <ul className="jp-acp-List">
              {missing.map(agent => (
                <MissingAgent key={agent.id} agent={agent} />
              ))}
            </ul>
          </details>
        </section>
      )}
    </div>
  );
}

interface IStartProps extends IWelcomeProps {
  /** The agents that can be used. */
  ready: IAgent[];
}

/** What can be begun. */
function Start({ agents, ready, isStarting, onNew }: IStartProps): JSX.Element {
  const { trans, newRemoteSession } = useChat();
  return (
    <section aria-labelledby="jp-acp-start">
      <h2 id="jp-acp-start" className="jp-acp-Heading">
        {trans.__('Start a session')}
      </h2>
      {agents.value && ready.length === 0 && (
        <p className="jp-acp-Hint">
          {trans.__(
            'No agent is available. Install one of the agents below, or ask the administrator of this server.'
          )}
        </p>
      )}
      <ul className="jp-acp-List">
        {ready.map(agent => (
          <li key={agent.id} className="jp-acp-RowHolder">
            <button
              type="button"
              className="jp-acp-Row"
              disabled={isStarting}
              onClick={() => onNew(agent.id)}
            >
              <agentIcon.react tag="span" className="jp-acp-Row-icon" />
              <span className="jp-acp-Row-text">
                <span className="jp-acp-Row-title">{agent.name}</span>
                {agent.description && (
                  <span className="jp-acp-Row-detail">{agent.description}</span>
                )}
              </span>
              {agent.default && (
                <span className="jp-acp-Badge">{trans.__('default')}</span>
              )}
            </button>
            <AgentActions agent={agent} onChanged={agents.reload} />
          </li>
        ))}
        {ready.length > 0 && (
          <li className="jp-acp-RowHolder">
            <button
              type="button"
              className="jp-acp-Row"
              disabled={isStarting}
              onClick={() => void newRemoteSession()}
            >
              <remoteIcon.react tag="span" className="jp-acp-Row-icon" />
              <span className="jp-acp-Row-text">
                <span className="jp-acp-Row-title">
                  {trans.__('New remote session…')}
                </span>
                <span className="jp-acp-Row-detail">
                  {trans.__(
                    'The agent works on a copy of a git repository and returns a branch'
                  )}
                </span>
              </span>
            </button>
          </li>
        )}
      </ul>
    </section>
  );
}

function MissingAgent({ agent }: { agent: IAgent }): JSX.Element {
  const { trans } = useChat();
  return (
    <li className="jp-acp-Missing">
      <span className="jp-acp-Row-title">{agent.name}</span>
      {agent.missing && (
        <span className="jp-acp-Row-detail">{agent.missing}</span>
      )}
      {agent.install && (
        <span className="jp-acp-Command">
          <code>{agent.install}</code>
          <Button
            minimal
            small
            title={trans.__('Copy the command')}
            aria-label={trans.__(
              'Copy the command that installs %1',
              agent.name
            )}
            onClick={() => Clipboard.copyToSystem(agent.install!)}
          >
            <copyIcon.react tag="span" />
          </Button>
        </span>
      )}
    </li>
  );
}
