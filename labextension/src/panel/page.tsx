// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import { useSessions } from '../sessions/context';
import { SessionView } from '../sessions/view';
import { useLoaded } from '../ui/hooks';
import {
  Offline,
  Problem,
  ProgressBar,
  useConnectionStatus
} from '../ui/status';
import { SessionHeader } from './header';

interface ISessionPageProps {
  id: string;
  inputRef: React.RefObject<HTMLTextAreaElement>;
}

/** A session on its own, in a tab of the main area. */
export function SessionPage({ id, inputRef }: ISessionPageProps): JSX.Element {
  const { agents: service, sessions, trans } = useSessions();
  const status = useConnectionStatus();
  const { value: model, error, reload } = useLoaded(() => sessions.follow(id));
  const agents = useLoaded(() => service.list());
  return (
    <>
      {model && (
        <div className="jp-acp-Header">
          <SessionHeader model={model} agents={agents.value ?? []} />
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
