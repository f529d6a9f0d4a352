// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Button, addIcon, ellipsesIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import type { IAgent } from '../protocol';
import { RemoteMark } from '../remote/mark';
import { repositoryOf } from '../remote/words';
import { useSessions } from '../sessions/context';
import { Rename, useRenaming } from '../sessions/rename';
import type { SessionModel } from '../sessions/session';
import { titleOf } from '../sessions/words';
import { useFrameUpdates } from '../ui/hooks';
import { agentIcon, historyIcon, remoteIcon } from '../ui/icons';
import { MenuButton, MenuOpener } from '../ui/menu';

interface IHeaderProps {
  model: SessionModel | null;
  agents: IAgent[];
  /** The page from which to start is shown already. */
  isHome: boolean;
  isStarting: boolean;
  onNew: (agent?: string) => void;
  onSessions: () => void;
}

/** What the side panel shows, and the two ways to something else. */
export function Header({
  model,
  agents,
  isHome,
  isStarting,
  onNew,
  onSessions
}: IHeaderProps): JSX.Element {
  const { sessions, trans, newRemoteSession } = useSessions();
  // The one in use first: one more key, and there is another of its kind.
  const ready = agents
    .filter(agent => agent.available)
    .sort((one, other) => rank(one, model) - rank(other, model));
  return (
    <div className="jp-acp-Header">
      {model ? (
        <SessionHeader key={model.id} model={model} agents={agents} />
      ) : (
        <div className="jp-acp-Header-titles">
          <span className="jp-acp-Header-title">{trans.__('Agents')}</span>
        </div>
      )}
      {!sessions.isGuest && (
        <MenuButton
          label={trans.__('New session')}
          icon={addIcon}
          isDisabled={isStarting}
          items={() => [
            ...ready.map(agent => ({
              label: trans.__('New Session with %1', agent.name),
              icon: agentIcon,
              run: () => onNew(agent.id)
            })),
            {
              label: trans.__('New Remote Session…'),
              icon: remoteIcon,
              run: () => void newRemoteSession(model?.info.agent)
            }
          ]}
        />
      )}
      <Button
        minimal
        className="jp-acp-Header-button"
        title={trans.__('Sessions and agents')}
        aria-label={trans.__('Sessions and agents')}
        disabled={isHome}
        onClick={onSessions}
      >
        <historyIcon.react tag="span" />
      </Button>
    </div>
  );
}

function rank(agent: IAgent, model: SessionModel | null): number {
  return agent.id === model?.info.agent ? 0 : agent.default ? 1 : 2;
}

interface ISessionHeaderProps {
  model: SessionModel;
  agents: IAgent[];
}

/** What a session is called, and what can be done with it. */
export function SessionHeader({
  model,
  agents
}: ISessionHeaderProps): JSX.Element {
  const { openMenu, renaming, sessions, trans } = useSessions();
  const menu = React.useRef<HTMLSpanElement>(null);
  const { isRenaming, onDone } = useRenaming(model.id, 'header');
  useFrameUpdates(model.changed);
  useFrameUpdates(sessions.list.changed);
  const session = sessions.list.get(model.id) ?? model.info;
  const agent = agents.find(each => each.id === session.agent);
  const title = model.transcript.facts.title || titleOf(session, trans);
  return (
    <div
      className="jp-acp-Header-session"
      data-acp-session={model.id}
      data-acp-place="header"
    >
      <div className="jp-acp-Header-titles">
        {isRenaming ? (
          <Rename
            title={title}
            onDone={onDone}
            onLeave={() => menu.current?.querySelector('button')?.focus()}
          />
        ) : (
          <span
            className="jp-acp-Header-title"
            title={title}
            onDoubleClick={() => {
              if (!sessions.isGuest) {
                renaming.begin(model.id, 'header');
              }
            }}
          >
            {title}
          </span>
        )}
        <span className="jp-acp-Header-agent">
          {agent?.name ?? session.agent}
          {session.remote && (
            <>
              {' '}
              <RemoteMark remote={session.remote} />
              <span title={session.remote.url}>
                {repositoryOf(session.remote.url)}
              </span>
            </>
          )}
        </span>
      </div>
      <MenuOpener
        ref={menu}
        label={trans.__('Session actions')}
        icon={ellipsesIcon}
        onOpen={openMenu}
      />
    </div>
  );
}
