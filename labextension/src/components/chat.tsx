// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import { type ILoginNeeded, loginNeeded } from '../model/login';
import type { SessionModel } from '../model/session';
import type { IAcpConnection } from '../tokens';
import { Authentication } from './authentication';
import { useChat } from './context';
import { Header } from './header';
import { useLoaded } from './hooks';
import { SessionView } from './sessionview';
import { Welcome } from './welcome';

/** What the widget around the chat may ask of it. */
export interface IChatHandle {
  newSession(agent?: string): Promise<void>;
  focus(): void;
}

/** The whole panel: the current session, or the page from which to start. */
export const Chat = React.forwardRef<IChatHandle>(
  function Chat(_, ref): JSX.Element {
    const { sessions, trans } = useChat();
    const model = useCurrent();
    const status = useStatus();
    const agents = useLoaded(() => sessions.agents());
    const input = React.useRef<HTMLTextAreaElement>(null);
    const [waitingFor, setWaitingFor] = React.useState('');
    const [problem, setProblem] = React.useState('');
    const [login, setLogin] = React.useState<ILoginNeeded | null>(null);

    const run = React.useCallback(
      async (words: string, work: () => Promise<unknown>) => {
        setProblem('');
        setWaitingFor(words);
        try {
          await work();
          setLogin(null);
        } catch (error) {
          const needed = loginNeeded(error);
          setLogin(needed);
          setProblem(needed ? '' : (error as Error).message);
        } finally {
          setWaitingFor('');
        }
        input.current?.focus();
      },
      []
    );
    const newSession = React.useCallback(
      (agent?: string) =>
        run(trans.__('Starting the agent…'), () => sessions.create(agent)),
      [run, sessions, trans]
    );
    const open = React.useCallback(
      (id: string) =>
        run(trans.__('Opening the session…'), () => sessions.open(id)),
      [run, sessions, trans]
    );
    React.useImperativeHandle(
      ref,
      () => ({ newSession, focus: () => input.current?.focus() }),
      [newSession]
    );
    React.useEffect(() => {
      void run(trans.__('Connecting…'), async () => {
        sessions.connection.connect();
        // A session that is gone is no problem: there are others to choose.
        await sessions.restore().catch(() => sessions.clear());
      });
    }, [run, sessions, trans]);

    return (
      <>
        <Header
          model={model}
          agents={agents.value ?? []}
          isStarting={waitingFor !== ''}
          onNew={agent => void newSession(agent)}
          onSessions={() => sessions.clear()}
        />
        <ProgressBar label={waitingFor} />
        {status === 'disconnected' && (
          <p className="jp-acp-Offline" role="status">
            {trans.__(
              'The connection to the Jupyter server is lost. Trying again…'
            )}
          </p>
        )}
        {problem && (
          <div className="jp-acp-Problem" role="alert">
            <span>{problem}</span>
          </div>
        )}
        {login ? (
          <Authentication
            key={login.agent}
            login={login}
            onRetry={() => void newSession(login.agent)}
            onCancel={() => setLogin(null)}
          />
        ) : model ? (
          <SessionView
            key={model.id}
            model={model}
            isConnected={status === 'connected'}
            inputRef={input}
          />
        ) : (
          <Welcome
            onNew={agent => void newSession(agent)}
            onOpen={id => void open(id)}
          />
        )}
      </>
    );
  }
);

function ProgressBar({ label }: { label: string }): JSX.Element {
  if (!label) {
    return <div className="jp-acp-Progress" />;
  }
  return (
    <div
      className="jp-acp-Progress jp-acp-mod-active"
      role="progressbar"
      aria-label={label}
      title={label}
    />
  );
}

function useCurrent(): SessionModel | null {
  const { sessions } = useChat();
  const subscribe = React.useCallback(
    (notify: () => void) => {
      sessions.currentChanged.connect(notify);
      return () => {
        sessions.currentChanged.disconnect(notify);
      };
    },
    [sessions]
  );
  return React.useSyncExternalStore(subscribe, () => sessions.current);
}

function useStatus(): IAcpConnection.Status {
  const { connection } = useChat().sessions;
  const subscribe = React.useCallback(
    (notify: () => void) => {
      connection.statusChanged.connect(notify);
      return () => {
        connection.statusChanged.disconnect(notify);
      };
    },
    [connection]
  );
  return React.useSyncExternalStore(subscribe, () => connection.status);
}
