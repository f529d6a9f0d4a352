// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Notification } from '@jupyterlab/apputils';
import {
  Button,
  type LabIcon,
  launchIcon,
  listIcon,
  refreshIcon
} from '@jupyterlab/ui-components';
import * as React from 'react';

import type { IAgent } from '../protocol';
import { useChat } from '../ui/context';
import { showAgentLog } from './log';

interface IAgentActionsProps {
  agent: IAgent;
  /** Something is different about the agent. */
  onChanged: () => void;
}

/** What can be done with an agent besides starting a session with it. */
export function AgentActions({
  agent,
  onChanged
}: IAgentActionsProps): JSX.Element {
  const chat = useChat();
  const { agents, trans } = chat;
  const { id, name } = agent;
  const run = async (
    work: Promise<void>,
    done: string,
    failed: string
  ): Promise<void> => {
    try {
      await work;
      Notification.success(done, { autoClose: 3000 });
    } catch (error) {
      Notification.error(`${failed} ${(error as Error).message}`, {
        autoClose: 8000
      });
    }
    onChanged();
  };
  return (
    <span className="jp-acp-RowActions">
      {agent.canLogOut && (
        <Action
          icon={launchIcon}
          label={trans.__('Log out of %1', name)}
          onClick={() =>
            void run(
              agents.logout(id),
              trans.__('Logged out of %1.', name),
              trans.__('Logging out of %1 failed:', name)
            )
          }
        />
      )}
      {agent.running && (
        <Action
          icon={refreshIcon}
          label={trans.__('Restart %1', name)}
          onClick={() =>
            void run(
              agents.restart(id),
              trans.__('%1 was restarted.', name),
              trans.__('%1 was not restarted:', name)
            )
          }
        />
      )}
      <Action
        icon={listIcon}
        label={trans.__('Log of %1', name)}
        onClick={() => void showAgentLog(chat, agent)}
      />
    </span>
  );
}

interface IActionProps {
  icon: LabIcon;
  label: string;
  onClick: () => void;
}

function Action({ icon, label, onClick }: IActionProps): JSX.Element {
  return (
    <Button
      minimal
      small
      className="jp-acp-RowAction"
      title={label}
      aria-label={label}
      onClick={onClick}
    >
      <icon.react tag="span" />
    </Button>
  );
}
