// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import { useChat } from './context';
import { SessionHeader } from './header';
import { useLoaded } from './hooks';
import { SessionView } from './sessionview';
import { Offline, Problem, ProgressBar, useConnectionStatus } from './status';

interface ISessionPageProps {
  id: string;
  inputRef: React.RefObject<HTMLTextAreaElement>;
}

/** A session on its own, in a tab of the main area. */
export function SessionPage({ id, inputRef }: ISessionPageProps): JSX.Element {
  const { sessions, trans } = useChat();
  const status = useConnectionStatus();
  const { value: model, error, reload } = useLoaded(() => sessions.follow(id));
  const agents = useLoaded(() => sessions.agents());
  return (
    <>
      {model && (
        <div className="jp-acp-Header">
          <SessionHeader
            model={model}
            agents={agents.value ?? []}
            area="main"
          />
        </div>
      )}
      <ProgressBar
        label={model || error ? '' : trans.__('Opening the session…')}
      />
      <Offline />
      <Problem text={error}>
        <button type="button" className="jp-mod-styled" onClick={reload}>
          {trans.__('Try again')}
        </button>
      </Problem>
      {model && (
        <SessionView
          model={model}
          isConnected={status === 'connected'}
          inputRef={inputRef}
        />
      )}
    </>
  );
}
