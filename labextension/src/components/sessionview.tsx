// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { TranslationBundle } from '@jupyterlab/translation';
import { Button, closeIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import type { IPendingRequest, SessionModel } from '../model/session';
import { requestWords } from '../model/owntools';
import type { IElicitationParams, IPermissionParams } from '../protocol';
import { showAgentLog } from './agentlog';
import { Authentication } from './authentication';
import { useChat } from './context';
import { useFrameUpdates, useSharesContext } from './hooks';
import { McpServers } from './mcpservers';
import { Prompt } from './prompt';
import { Requests } from './requests';
import { SessionContext } from './session';
import { Settings } from './settings';
import { TranscriptView } from './transcript';
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
  const chat = useChat();
  const { sessions, trans } = chat;
  useFrameUpdates(model.changed);
  const { transcript, requests } = model;
  const sharesContext = useSharesContext();
  const [problem, setProblem] = React.useState('');
  const restart = React.useCallback(() => {
    setProblem('');
    sessions
      .restartAgent(model.info.agent)
      .catch(error => setProblem((error as Error).message));
  }, [sessions, model]);
  const showLog = React.useCallback(() => {
    const { agent } = model.info;
    void showAgentLog(chat, { id: agent, name: agent });
  }, [chat, model]);
  const shownProblem = problem || model.problem;
  return (
    <SessionContext.Provider value={model}>
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
            subjectOf(requests.at(-1)!, trans)
          )}
      </div>
      <Requests model={model} isConnected={isConnected} inputRef={inputRef} />
      {model.login && (
        <Authentication
          login={model.login}
          onRetry={() => model.retry(sharesContext(model))}
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
          <McpServers servers={transcript.servers} />
          {transcript.usage && <Usage usage={transcript.usage} />}
        </Prompt>
      )}
    </SessionContext.Provider>
  );
}

function subjectOf(
  { params }: IPendingRequest,
  trans: TranslationBundle
): string {
  const { toolCall, message } = params as Partial<
    IPermissionParams & IElicitationParams
  >;
  return toolCall ? requestWords(params, trans) : (message ?? '');
}

function askedCalls(requests: readonly IPendingRequest[]): Set<string> {
  return new Set(
    requests.map(
      ({ params }) =>
        (params as Partial<IPermissionParams>).toolCall?.toolCallId ?? ''
    )
  );
}
