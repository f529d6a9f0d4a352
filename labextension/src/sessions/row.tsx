// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Time } from '@jupyterlab/coreutils';
import { ellipsesIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import type { IMatch, ISessionInfo } from '../protocol';
import { RemoteMark } from '../remote/mark';
import { MenuOpener } from '../ui/menu';
import { useSessions } from './context';
import { type SessionStatus, statusOf } from './list';
import { Rename, useRenaming } from './rename';
import { placeOf, statusWords, titleOf } from './words';

/** How often the times are brought up to date. */
const MINUTE_MS = 60_000;

interface ISessionRowProps {
  session: ISessionInfo;
  /** The name of its agent. */
  agent: string;
  /** Where it says what was looked for. */
  place?: IMatch;
}

/** One line of the list: what a session is about, and how it stands. */
export const SessionRow = React.memo(function SessionRow({
  session,
  agent,
  place
}: ISessionRowProps): JSX.Element {
  const { sessions, trans, openSession, openMenu } = useSessions();
  const menu = React.useRef<HTMLSpanElement>(null);
  const { isRenaming, onDone } = useRenaming(session.id, 'row');
  const title = titleOf(session, trans);
  const status = statusOf(session);

  const detail = (
    <span className="jp-acp-Session-detail">
      <span className={`jp-acp-Session-status jp-acp-mod-${status}`}>
        {statusWords(status, trans)}
      </span>
      {session.remote && <RemoteMark remote={session.remote} />}
      <span title={session.remote?.url ?? session.cwd}>
        · {agent} · {placeOf(session, sessions.connection.server.rootDir)}
      </span>
    </span>
  );
  return (
    <li
      className="jp-acp-Session"
      data-acp-session={session.id}
      data-acp-place="row"
    >
      {isRenaming ? (
        <div className="jp-acp-Session-row">
          <Dot status={status} />
          <span className="jp-acp-Row-text">
            <Rename
              title={title}
              onDone={onDone}
              onLeave={() => menu.current?.querySelector('button')?.focus()}
            />
            {detail}
          </span>
        </div>
      ) : (
        <button
          type="button"
          className="jp-acp-Session-row"
          onClick={() => void openSession(session.id)}
        >
          <Dot status={status} />
          <span className="jp-acp-Row-text">
            <span className="jp-acp-Session-line">
              <span className="jp-acp-Row-title" title={title}>
                {title}
              </span>
              {session.updated && <Ago time={session.updated} />}
            </span>
            {detail}
            {place && (
              <span className="jp-acp-Session-said">
                {place.parts.map(({ text, isMatch }, index) =>
                  isMatch ? <mark key={index}>{text}</mark> : text
                )}
              </span>
            )}
          </span>
        </button>
      )}
      <MenuOpener
        ref={menu}
        className="jp-acp-RowAction"
        label={trans.__('Actions for %1', title)}
        icon={ellipsesIcon}
        onOpen={openMenu}
      />
    </li>
  );
});

/** How long ago something was, which grows. */
export function Ago({ time }: { time: string }): JSX.Element {
  const [, render] = React.useReducer((count: number) => count + 1, 0);
  React.useEffect(() => {
    const timer = setInterval(render, MINUTE_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <time
      className="jp-acp-Session-time"
      dateTime={time}
      title={Time.format(time)}
    >
      {Time.formatHuman(time, 'narrow')}
    </time>
  );
}

export function Dot({ status }: { status: SessionStatus }): JSX.Element {
  return <span className={`jp-acp-Dot jp-acp-mod-${status}`} aria-hidden />;
}
