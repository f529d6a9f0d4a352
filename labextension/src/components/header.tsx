// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Button, addIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import { historyIcon } from '../icons';
import type { SessionModel } from '../model/session';
import type { IAgent } from '../protocol';
import { useChat } from './context';
import { useFrameUpdates } from './hooks';

interface IHeaderProps {
  model: SessionModel | null;
  agents: IAgent[];
  isStarting: boolean;
  onNew: (agent?: string) => void;
  onSessions: () => void;
}

/** What is shown, and the two ways to something else. */
export function Header({
  model,
  agents,
  isStarting,
  onNew,
  onSessions
}: IHeaderProps): JSX.Element {
  const { trans } = useChat();
  useFrameUpdates(model?.changed ?? null);
  const ready = agents.filter(agent => agent.available);
  const agent = agents.find(each => each.id === model?.info.agent);
  const title =
    model?.transcript.title || model?.info.title || trans.__('New session');
  return (
    <div className="jp-acp-Header">
      {model ? (
        <div className="jp-acp-Header-titles">
          <span className="jp-acp-Header-title" title={title}>
            {title}
          </span>
          <span className="jp-acp-Header-agent">
            {agent?.name ?? model.info.agent}
          </span>
        </div>
      ) : (
        <div className="jp-acp-Header-titles">
          <span className="jp-acp-Header-title">{trans.__('Agents')}</span>
        </div>
      )}
      {ready.length > 1 && (
        <select
          className="jp-acp-Select"
          aria-label={trans.__('New session with')}
          title={trans.__('New session with…')}
          disabled={isStarting}
          value=""
          onChange={event => onNew(event.target.value)}
        >
          <option value="" disabled>
            {trans.__('New with…')}
          </option>
          {ready.map(each => (
            <option key={each.id} value={each.id}>
              {each.name}
            </option>
          ))}
        </select>
      )}
      <Button
        minimal
        className="jp-acp-Header-button"
        title={trans.__('New session')}
        aria-label={trans.__('New session')}
        disabled={isStarting}
        onClick={() => onNew(model?.info.agent || undefined)}
      >
        <addIcon.react tag="span" />
      </Button>
      <Button
        minimal
        className="jp-acp-Header-button"
        title={trans.__('Sessions and agents')}
        aria-label={trans.__('Sessions and agents')}
        disabled={!model}
        onClick={onSessions}
      >
        <historyIcon.react tag="span" />
      </Button>
    </div>
  );
}
