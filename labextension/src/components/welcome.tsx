// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Button, copyIcon, deleteIcon } from '@jupyterlab/ui-components';
import { Clipboard, Dialog, showDialog } from '@jupyterlab/apputils';
import * as React from 'react';

import { agentIcon } from '../icons';
import type { IAgent, ISessionInfo } from '../protocol';
import { AgentActions } from './agentactions';
import { useChat } from './context';
import { useLoaded } from './hooks';

interface IWelcomeProps {
  onNew: (agent: string) => void;
  onOpen: (id: string) => void;
}

/** The page without a session: who is there, and what was begun before. */
export function Welcome({ onNew, onOpen }: IWelcomeProps): JSX.Element {
  const { sessions, trans } = useChat();
  const agents = useLoaded(() => sessions.agents());
  const list = useLoaded(() => sessions.list());
  const ready = agents.value?.filter(agent => agent.available) ?? [];
  const missing = agents.value?.filter(agent => !agent.available) ?? [];

  const remove = async (session: ISessionInfo) => {
    const result = await showDialog({
      title: trans.__('Delete this session?'),
      body: trans.__(
        '“%1” and everything that was said in it will be gone.',
        session.title || trans.__('Untitled session')
      ),
      buttons: [
        Dialog.cancelButton({ label: trans.__('Cancel') }),
        Dialog.warnButton({ label: trans.__('Delete') })
      ]
    });
    if (result.button.accept) {
      await sessions.remove(session.id);
      list.reload();
    }
  };

  return (
    <div className="jp-acp-Welcome">
      {(agents.error || list.error) && (
        <div className="jp-acp-Problem" role="alert">
          <span>
            {trans.__(
              'The list could not be loaded: %1',
              agents.error || list.error
            )}
          </span>
          <button
            type="button"
            className="jp-mod-styled"
            onClick={() => {
              agents.reload();
              list.reload();
            }}
          >
            {trans.__('Try again')}
          </button>
        </div>
      )}
      <section aria-labelledby="jp-acp-start">
        <h2 id="jp-acp-start" className="jp-acp-Heading">
          {trans.__('Start a session')}
        </h2>
        {agents.value && ready.length === 0 && (
          <p className="jp-acp-Hint">
            {trans.__(
              'No agent may be used here. Install one of the agents below, or ask who runs this server.'
            )}
          </p>
        )}
        <ul className="jp-acp-List">
          {ready.map(agent => (
            <li key={agent.id} className="jp-acp-RowHolder">
              <button
                type="button"
                className="jp-acp-Row"
                onClick={() => onNew(agent.id)}
              >
                <agentIcon.react tag="span" className="jp-acp-Row-icon" />
                <span className="jp-acp-Row-text">
                  <span className="jp-acp-Row-title">{agent.name}</span>
                  {agent.description && (
                    <span className="jp-acp-Row-detail">
                      {agent.description}
                    </span>
                  )}
                </span>
                {agent.default && (
                  <span className="jp-acp-Badge">{trans.__('default')}</span>
                )}
              </button>
              <AgentActions agent={agent} onChanged={agents.reload} />
            </li>
          ))}
        </ul>
      </section>
      {list.value && list.value.length > 0 && (
        <section aria-labelledby="jp-acp-recent">
          <h2 id="jp-acp-recent" className="jp-acp-Heading">
            {trans.__('Sessions')}
          </h2>
          <ul className="jp-acp-List">
            {list.value.map(session => (
              <SessionRow
                key={session.id}
                session={session}
                agents={agents.value ?? []}
                onOpen={onOpen}
                onRemove={each => void remove(each)}
              />
            ))}
          </ul>
        </section>
      )}
      {missing.length > 0 && (
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

interface ISessionRowProps {
  session: ISessionInfo;
  agents: IAgent[];
  onOpen: (id: string) => void;
  onRemove: (session: ISessionInfo) => void;
}

function SessionRow({
  session,
  agents,
  onOpen,
  onRemove
}: ISessionRowProps): JSX.Element {
  const { trans } = useChat();
  const agent = agents.find(each => each.id === session.agent);
  const title = session.title || trans.__('Untitled session');
  return (
    <li className="jp-acp-RowHolder">
      <button
        type="button"
        className="jp-acp-Row"
        onClick={() => onOpen(session.id)}
      >
        <span
          className={`jp-acp-Dot jp-acp-mod-${session.waiting ? 'waiting' : (session.state ?? 'idle')}`}
          title={stateWords(session, trans)}
        />
        <span className="jp-acp-Row-text">
          <span className="jp-acp-Row-title">{title}</span>
          <span className="jp-acp-Row-detail">
            {session.waiting ? `${trans.__('Waits for you')} · ` : ''}
            {agent?.name ?? session.agent}
            {session.updated && ` · ${when(session.updated)}`}
          </span>
        </span>
      </button>
      <Button
        minimal
        small
        className="jp-acp-RowAction"
        title={trans.__('Delete')}
        aria-label={trans.__('Delete %1', title)}
        onClick={() => onRemove(session)}
      >
        <deleteIcon.react tag="span" />
      </Button>
    </li>
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

type Trans = ReturnType<typeof useChat>['trans'];

function stateWords(session: ISessionInfo, trans: Trans): string {
  if (session.waiting) {
    return trans.__('Waits for you');
  }
  switch (session.state) {
    case 'running':
      return trans.__('Running');
    case 'disconnected':
      return trans.__('Its agent is not running');
    case 'closed':
      return trans.__('Closed');
    default:
      return trans.__('Ready');
  }
}

function when(iso: string): string {
  const date = new Date(iso);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday
    ? date.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })
    : date.toLocaleDateString([], { day: 'numeric', month: 'short' });
}
