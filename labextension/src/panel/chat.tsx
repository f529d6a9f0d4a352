// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Button } from '@jupyterlab/ui-components';
import * as React from 'react';

import { Authentication } from '../agents/authentication';
import { loginNeeded } from '../agents/login';
import { RemotePage, RemoteStrip } from '../remote/page';
import { useSessions } from '../sessions/context';
import type { SessionModel } from '../sessions/session';
import { SessionView } from '../sessions/view';
import { useFrameUpdates, useLoaded } from '../ui/hooks';
import {
  Offline,
  Problem,
  ProgressBar,
  useConnectionStatus
} from '../ui/status';
import { Header } from './header';
import type { PanelModel } from './model';
import { PANE_ID, SessionTabs } from './sessiontabs';
import { Welcome } from './welcome';

interface IChatProps {
  panel: PanelModel;
  /** What has the focus where there is nothing to write in yet. */
  frame: HTMLElement;
  /** Where the person writes, while a session is shown. */
  inputRef: React.RefObject<HTMLTextAreaElement>;
}

/** The whole panel: the current session, or the page from which to start. */
export function Chat({ panel, frame, inputRef }: IChatProps): JSX.Element {
  const { agents: service, sessions, trans } = useSessions();
  const model = useCurrent();
  const status = useConnectionStatus();
  useFrameUpdates(sessions.tabsChanged);
  useFrameUpdates(panel.changed);
  useFocus(panel, frame, inputRef);
  const agents = useLoaded(() => service.list());
  React.useEffect(() => panel.begin(), [panel]);

  const { failure, label, remote } = panel;
  const { setup } = remote;
  const login = failure && loginNeeded(failure.error);
  const hasTabs = sessions.tabs.length > 1;
  const shown = remote.isShown ? null : model;
  return (
    <>
      <Header
        model={shown}
        agents={agents.value ?? []}
        isHome={!model && !remote.isShown}
        isStarting={label !== ''}
        onNew={agent => void panel.newSession(agent)}
        onSessions={() => panel.showList()}
      />
      {hasTabs && (
        <SessionTabs
          current={shown?.id}
          onOpen={id => void panel.openSession(id)}
        />
      )}
      <ProgressBar label={label} />
      <Offline />
      {setup && !remote.isShown && (
        <RemoteStrip setup={setup} onShow={() => remote.show()} />
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
          onCancel={() => panel.dismissFailure()}
        />
      ) : setup && remote.isShown ? (
        <RemotePage
          setup={setup}
          agents={agents.value ?? []}
          onStart={() => void panel.startRemote()}
          onClose={() => remote.close()}
        />
      ) : model ? (
        <div
          className="jp-acp-Pane"
          id={PANE_ID}
          data-acp-view={model.id}
          role={hasTabs ? 'tabpanel' : undefined}
          aria-label={hasTabs ? trans.__('Session') : undefined}
        >
          <SessionView
            key={model.id}
            model={model}
            isConnected={status === 'connected'}
            inputRef={inputRef}
          />
        </div>
      ) : (
        <Welcome
          agents={agents}
          isStarting={label !== ''}
          onNew={agent => void panel.newSession(agent)}
        />
      )}
    </>
  );
}

/** What the person has waited for is where to write. */
function useFocus(
  panel: PanelModel,
  frame: HTMLElement,
  inputRef: IChatProps['inputRef']
): void {
  React.useEffect(() => {
    const onWaited = (): void => {
      // What has come is not in the page yet.
      requestAnimationFrame(() => {
        const now = document.activeElement;
        // Whoever has gone elsewhere meanwhile must not be torn from it.
        if (now === frame || now === document.body) {
          inputRef.current?.focus();
        }
      });
    };
    panel.waited.connect(onWaited);
    return () => {
      panel.waited.disconnect(onWaited);
    };
  }, [panel, frame, inputRef]);
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
