// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import { type ILoginNeeded, loginNeeded } from '../model/login';
import type { SessionModel } from '../model/session';
import type { IChatPanel } from '../tokens';
import { Authentication } from './authentication';
import { useChat } from './context';
import { Header } from './header';
import { useFrameUpdates, useLoaded } from './hooks';
import { PANE_ID, SessionTabs } from './sessiontabs';
import { SessionView } from './sessionview';
import { Offline, Problem, ProgressBar, useConnectionStatus } from './status';
import { Welcome } from './welcome';

/** What the widget around the chat may ask of it. */
export interface IChatHandle {
  newSession(agent?: string): Promise<void>;
  openSession(id: string): Promise<void>;
  ask(question: IChatPanel.IQuestion): Promise<void>;
  focus(): void;
}

/** The whole panel: the current session, or the page from which to start. */
export const Chat = React.forwardRef<IChatHandle>(
  function Chat(_, ref): JSX.Element {
    const { sessions, trans } = useChat();
    const model = useCurrent();
    const status = useConnectionStatus();
    useFrameUpdates(sessions.tabsChanged);
    const agents = useLoaded(() => sessions.agents());
    const input = React.useRef<HTMLTextAreaElement>(null);
    const restored = React.useRef<Promise<void>>(undefined);
    const [waitingFor, setWaitingFor] = React.useState('');
    const [problem, setProblem] = React.useState('');
    const [login, setLogin] = React.useState<ILoginNeeded | null>(null);

    const run = React.useCallback(
      async (words: string, work: () => Promise<unknown>) => {
        setProblem('');
        setWaitingFor(words);
        try {
          // What is asked for now comes in front of what was open before.
          await restored.current;
          await work();
          setLogin(null);
        } catch (error) {
          const needed = loginNeeded(error);
          setLogin(needed);
          setProblem(needed ? '' : (error as Error).message);
        } finally {
          setWaitingFor('');
        }
      },
      []
    );
    const runAndFocus = React.useCallback(
      async (words: string, work: () => Promise<unknown>) => {
        await run(words, work);
        input.current?.focus();
      },
      [run]
    );
    const newSession = React.useCallback(
      (agent?: string) =>
        runAndFocus(trans.__('Starting the agent…'), () =>
          sessions.create(agent)
        ),
      [runAndFocus, sessions, trans]
    );
    const openSession = React.useCallback(
      (id: string) =>
        runAndFocus(trans.__('Opening the session…'), () => sessions.open(id)),
      [runAndFocus, sessions, trans]
    );
    const ask = React.useCallback(
      (question: IChatPanel.IQuestion) =>
        runAndFocus(trans.__('Starting the agent…'), async () => {
          const asked = sessions.current ?? (await sessions.create());
          const { text = '', attachments, isSent } = question;
          if (isSent) {
            void asked.prompt({ text, attachments });
          } else {
            asked.composer.attach(...attachments);
            asked.composer.text ||= text;
          }
        }),
      [runAndFocus, sessions, trans]
    );
    React.useImperativeHandle(
      ref,
      () => ({
        newSession,
        openSession,
        ask,
        focus: () => input.current?.focus()
      }),
      [newSession, openSession, ask]
    );
    React.useEffect(() => {
      sessions.connection.connect();
      // A session that is gone is no problem: there are others to choose.
      restored.current = sessions.restore().catch(() => sessions.clear());
      void run(trans.__('Connecting…'), () => sessions.connection.ready);
    }, [run, sessions, trans]);

    const hasTabs = sessions.tabs.length > 1;
    return (
      <>
        <Header
          model={model}
          agents={agents.value ?? []}
          isStarting={waitingFor !== ''}
          onNew={agent => void newSession(agent)}
          onSessions={() => sessions.clear()}
        />
        {hasTabs && (
          <SessionTabs
            current={model?.id}
            onOpen={id => void openSession(id)}
          />
        )}
        <ProgressBar label={waitingFor} />
        <Offline />
        <Problem text={problem} />
        {login ? (
          <Authentication
            key={login.agent}
            login={login}
            onRetry={() => void newSession(login.agent)}
            onCancel={() => setLogin(null)}
          />
        ) : model ? (
          <div
            className="jp-acp-Pane"
            id={PANE_ID}
            role={hasTabs ? 'tabpanel' : undefined}
            aria-label={hasTabs ? trans.__('Session') : undefined}
          >
            <SessionView
              key={model.id}
              model={model}
              isConnected={status === 'connected'}
              inputRef={input}
            />
          </div>
        ) : (
          <Welcome agents={agents} onNew={agent => void newSession(agent)} />
        )}
      </>
    );
  }
);

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
