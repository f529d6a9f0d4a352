// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Button } from '@jupyterlab/ui-components';
import * as React from 'react';

import { Authentication } from '../agents/authentication';
import { loginNeeded } from '../agents/login';
import type { IChatPanel } from '../api/chat';
import { useSharesContext } from '../prompt/settings';
import { RemotePage, RemoteStrip } from '../remote/page';
import { useRemoteStart } from '../remote/start';
import { isOnCard } from '../requests/requests';
import { useSessions } from '../sessions/context';
import type { SessionModel } from '../sessions/session';
import { SessionView } from '../sessions/view';
import { AttemptContext } from '../ui/attempt';
import { useFrameUpdates, useLoaded } from '../ui/hooks';
import {
  Offline,
  Problem,
  ProgressBar,
  useConnectionStatus
} from '../ui/status';
import { Header } from './header';
import { PANE_ID, SessionTabs } from './sessiontabs';
import { Welcome } from './welcome';

/** What the widget around the chat may ask of it. */
export interface IChatHandle {
  newSession(agent?: string): Promise<void>;
  openSession(id: string): Promise<void>;
  newRemoteSession(wanted: IChatPanel.IRemote): void;
  ask(question: IChatPanel.IQuestion): Promise<void>;
  focus(): void;
}

interface IChatProps {
  /** What has the focus where there is nothing to write in yet. */
  frame: HTMLElement;
}

/** The whole panel: the current session, or the page from which to start. */
export const Chat = React.forwardRef<IChatHandle, IChatProps>(function Chat(
  { frame },
  ref
): JSX.Element {
  const { agents: service, sessions, trans } = useSessions();
  const model = useCurrent();
  const status = useConnectionStatus();
  useFrameUpdates(sessions.tabsChanged);
  const agents = useLoaded(() => service.list());
  const input = React.useRef<HTMLTextAreaElement>(null);
  const restored = React.useRef<Promise<void>>(undefined);
  const { isBusy, label, run } = useWork(restored);
  const [failure, setFailure] = React.useState<IFailure | null>(null);
  const sharesContext = useSharesContext();
  const remote = useRemoteStart(sessions);
  const { setup, open: newRemoteSession, leave, close } = remote;

  const attempt = React.useCallback(
    async (
      words: string,
      work: () => Promise<unknown>,
      takesFocus = true
    ): Promise<void> => {
      setFailure(null);
      leave();
      if (takesFocus) {
        frame.focus();
      }
      try {
        await run(words, work);
      } catch (error) {
        const retry = () => void attempt(words, work, takesFocus);
        setFailure({ error: error as Error, retry });
      }
      const now = document.activeElement;
      // Whoever has gone elsewhere meanwhile must not be torn from it.
      if (takesFocus && (now === frame || now === document.body)) {
        input.current?.focus();
      }
    },
    [frame, run, leave]
  );
  const startRemote = React.useCallback(async (): Promise<void> => {
    setFailure(null);
    try {
      if (await setup?.start()) {
        close();
        input.current?.focus();
      }
    } catch (error) {
      setFailure({ error: error as Error, retry: () => void startRemote() });
    }
  }, [setup, close]);
  const newSession = React.useCallback(
    (agent?: string) =>
      attempt(trans.__('Starting the agent…'), () => sessions.create(agent)),
    [attempt, sessions, trans]
  );
  const openSession = React.useCallback(
    (id: string) =>
      attempt(trans.__('Opening the session…'), () => sessions.open(id)),
    [attempt, sessions, trans]
  );
  const ask = React.useCallback(
    (question: IChatPanel.IQuestion) =>
      attempt(
        trans.__('Starting the agent…'),
        async () => {
          const asked = sessions.current ?? (await sessions.create());
          const { text = '', attachments, isSent } = question;
          if (isSent) {
            void asked.prompt({ text, attachments }, sharesContext(asked));
          } else {
            asked.composer.attach(...attachments);
            asked.composer.text ||= text;
          }
        },
        !question.isSent
      ),
    [attempt, sessions, sharesContext, trans]
  );
  React.useImperativeHandle(
    ref,
    () => ({
      newSession,
      openSession,
      newRemoteSession,
      ask,
      focus: () => {
        // A card that was gone to keeps the focus.
        if (!isOnCard(frame)) {
          input.current?.focus();
        }
      }
    }),
    [newSession, openSession, newRemoteSession, ask, frame]
  );
  React.useEffect(() => {
    sessions.connection.connect();
    // A session that is gone is no problem: there are others to choose.
    restored.current = sessions.restore().catch(() => sessions.clear());
    run(trans.__('Connecting…'), () => sessions.connection.ready).catch(error =>
      setFailure({ error: error as Error })
    );
  }, [run, sessions, trans]);

  const login = failure && loginNeeded(failure.error);
  const hasTabs = sessions.tabs.length > 1;
  const shown = remote.isShown ? null : model;
  return (
    <AttemptContext.Provider value={attempt}>
      <Header
        model={shown}
        agents={agents.value ?? []}
        isHome={!model && !remote.isShown}
        isStarting={isBusy}
        onNew={agent => void newSession(agent)}
        onSessions={() => {
          leave();
          sessions.clear();
        }}
      />
      {hasTabs && (
        <SessionTabs current={shown?.id} onOpen={id => void openSession(id)} />
      )}
      <ProgressBar label={label} />
      <Offline />
      {setup && !remote.isShown && (
        <RemoteStrip setup={setup} onShow={remote.show} />
      )}
      <Problem text={failure && !login ? failure.error.message : ''}>
        {failure?.retry && (
          <Button minimal small onClick={failure.retry}>
            {trans.__('Try again')}
          </Button>
        )}
      </Problem>
      {login ? (
        <Authentication
          key={login.agent}
          login={login}
          onRetry={() => failure.retry?.()}
          onCancel={() => setFailure(null)}
        />
      ) : setup && remote.isShown ? (
        <RemotePage
          setup={setup}
          agents={agents.value ?? []}
          onStart={() => void startRemote()}
          onClose={close}
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
        <Welcome
          agents={agents}
          isStarting={isBusy}
          onNew={agent => void newSession(agent)}
        />
      )}
    </AttemptContext.Provider>
  );
});

/** What could not be done, and how to try once more. */
interface IFailure {
  error: Error;
  retry?: () => void;
}

/** Does things that take a while, several at once if need be, and says which. */
function useWork(after: React.RefObject<Promise<void> | undefined>): {
  isBusy: boolean;
  label: string;
  run(words: string, work: () => Promise<unknown>): Promise<void>;
} {
  const [labels, setLabels] = React.useState<readonly string[]>([]);
  const run = React.useCallback(
    async (words: string, work: () => Promise<unknown>) => {
      setLabels(labels => [...labels, words]);
      try {
        // What is asked for now comes in front of what was open before.
        await after.current;
        await work();
      } finally {
        setLabels(labels => {
          const index = labels.indexOf(words);
          return labels.filter((_, at) => at !== index);
        });
      }
    },
    [after]
  );
  return { isBusy: labels.length > 0, label: labels.at(-1) ?? '', run };
}

function useCurrent(): SessionModel | null {
  const { sessions } = useSessions();
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
