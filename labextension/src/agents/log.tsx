// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Dialog, showDialog } from '@jupyterlab/apputils';
import { ReactWidget } from '@jupyterlab/ui-components';
import * as React from 'react';

import type { IAgent } from '../protocol';
import { ChatContext, type IChatContext, useChat } from '../ui/context';
import { CopyButton } from '../ui/copybutton';
import { useLoaded } from '../ui/hooks';
import { Printed } from '../ui/printed';

/** Show what an agent printed last, in a dialog. */
export async function showAgentLog(
  context: IChatContext,
  { id, name }: Pick<IAgent, 'id' | 'name'>
): Promise<void> {
  const { trans } = context;
  await showDialog({
    title: trans.__('Log of %1', name),
    body: ReactWidget.create(
      <ChatContext.Provider value={context}>
        <AgentLog agent={id} />
      </ChatContext.Provider>
    ),
    buttons: [Dialog.okButton({ label: trans.__('Close') })]
  });
}

function AgentLog({ agent }: { agent: string }): JSX.Element {
  const { agents, trans } = useChat();
  const log = useLoaded(() => agents.log(agent));
  const [isRestarting, setRestarting] = React.useState(false);
  const [problem, setProblem] = React.useState('');
  const restart = async (): Promise<void> => {
    setProblem('');
    setRestarting(true);
    try {
      await agents.restart(agent);
    } catch (error) {
      setProblem((error as Error).message);
    }
    setRestarting(false);
    log.reload();
  };
  return (
    <div className="jp-acp-Log">
      <div className="jp-acp-Log-bar">
        <button
          type="button"
          className="jp-mod-styled jp-mod-reject"
          onClick={log.reload}
        >
          {trans.__('Refresh')}
        </button>
        <button
          type="button"
          className="jp-mod-styled jp-mod-reject"
          disabled={isRestarting}
          onClick={() => void restart()}
        >
          {trans.__('Restart the agent')}
        </button>
        <CopyButton
          text={log.value?.join('\n') ?? ''}
          label={trans.__('Copy the log')}
        />
      </div>
      {(problem || log.error) && (
        <p className="jp-acp-Login-problem" role="alert">
          {problem || log.error}
        </p>
      )}
      {log.value?.length === 0 && (
        <p className="jp-acp-Hint">
          {trans.__('No output since the agent was started.')}
        </p>
      )}
      {log.value && log.value.length > 0 && (
        <Printed label={trans.__('Agent output')} lines={log.value} />
      )}
    </div>
  );
}
