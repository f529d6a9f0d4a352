// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Button, closeIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import { Authentication } from '../agents/authentication';
import { showAgentLog } from '../agents/log';
import { McpServers } from '../agents/mcpservers';
import { ChangesContext } from '../changes/context';
import { Prompt } from '../prompt/prompt';
import { ResultsContext } from '../remote/context';
import type { IPendingRequest } from '../requests/request';
import { Requests } from '../requests/requests';
import { questionWords } from '../requests/words';
import { TranscriptView } from '../transcript/view';
import { useFrameUpdates } from '../ui/hooks';
import { SessionContext } from '../ui/session';
import { useSessions } from './context';
import { Settings } from './options';
import type { SessionModel } from './session';
import { Usage } from './usage';
import { Watching } from './watching';

interface ISessionViewProps {
  model: SessionModel;
  isConnected: boolean;
  inputRef: React.RefObject<HTMLTextAreaElement>;
}

/** One session: what was said, what is asked, and where to write. */
export function SessionView({
  model,
  isConnected,
  inputRef
}: ISessionViewProps): JSX.Element {
  const chat = useSessions();
  const { agents, sessions, trans } = chat;
  useFrameUpdates(model.changed);
  const { transcript, requests } = model;
  const [problem, setProblem] = React.useState('');
  const restart = React.useCallback(() => {
    setProblem('');
    agents
      .restart(model.info.agent)
      .catch(error => setProblem((error as Error).message));
  }, [agents, model]);
  const showLog = React.useCallback(() => {
    const { agent } = model.info;
    void showAgentLog(chat, { id: agent, name: agent });
  }, [chat, model]);
  const shownProblem = problem || model.problem;
  return (
    <SessionProviders model={model}>
      <TranscriptView
        items={transcript.items}
        waiting={model.waiting}
        asked={askedCalls(requests)}
        isBusy={model.isBusy}
        runningSince={transcript.runningSince}
        isBroken={transcript.state === 'disconnected'}
        onRestart={restart}
        onLog={showLog}
      />
      {/* Always there: what comes together with its region is not read out. */}
      <div className="jp-acp-mod-unseen" role="status" aria-live="polite">
        {requests.length > 0 &&
          trans.__(
            'The agent waits for you: %1',
            questionWords(requests.at(-1)!.question, trans)
          )}
      </div>
      <Requests model={model} isConnected={isConnected} inputRef={inputRef} />
      {model.login && (
        <Authentication
          login={model.login}
          onRetry={() => model.retry()}
          onCancel={() => model.dismissProblem()}
        />
      )}
      {shownProblem && (
        <div className="jp-acp-Problem" role="alert">
          <span>{shownProblem}</span>
          <Button
            minimal
            small
            title={trans.__('Dismiss')}
            aria-label={trans.__('Dismiss')}
            onClick={() => {
              setProblem('');
              model.dismissProblem();
            }}
          >
            <closeIcon.react tag="span" />
          </Button>
        </div>
      )}
      {sessions.isGuest ? (
        <Watching />
      ) : (
        <Prompt
          ref={inputRef}
          model={model}
          isBusy={model.isBusy}
          isConnected={isConnected}
        >
          <Settings model={model} isConnected={isConnected} />
          <McpServers servers={transcript.facts.servers} />
          {transcript.facts.usage && <Usage usage={transcript.facts.usage} />}
        </Prompt>
      )}
    </SessionProviders>
  );
}

interface IProvidersProps {
  model: SessionModel;
  children: React.ReactNode;
}

/** Gives each room what its views show of the session. */
function SessionProviders({ model, children }: IProvidersProps): JSX.Element {
  const { viewer } = useSessions();
  const changes = React.useMemo(
    () => ({ session: model, viewer }),
    [model, viewer]
  );
  return (
    <SessionContext.Provider value={model}>
      <ChangesContext.Provider value={changes}>
        <ResultsContext.Provider value={model.results}>
          {children}
        </ResultsContext.Provider>
      </ChangesContext.Provider>
    </SessionContext.Provider>
  );
}

function askedCalls(requests: readonly IPendingRequest[]): Set<string> {
  return new Set(
    requests.map(({ question }) =>
      question.kind === 'permission' ? (question.call?.toolCallId ?? '') : ''
    )
  );
}
