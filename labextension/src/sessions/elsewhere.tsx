// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import type { ISessionInfo } from '../protocol';
import { useLoaded } from '../ui/hooks';
import { useSessions } from './context';
import { Ago } from './row';
import { folderOf, titleOf } from './words';

/** Sessions that agents have from a terminal or another client, to be taken over. */
export function Elsewhere({
  nameOf
}: {
  nameOf: (session: ISessionInfo) => string;
}): JSX.Element | null {
  const { attempt, sessions, openSession, trans } = useSessions();
  const found = useLoaded(() => sessions.archive.elsewhere());
  const [opening, setOpening] = React.useState('');
  const heading = React.useId();
  const shown = (found.value ?? []).filter(({ id }) => !sessions.list.get(id));
  if (shown.length === 0) {
    // Agents that cannot tell have none: that is no problem of this list.
    return null;
  }
  const open = async (session: ISessionInfo): Promise<void> => {
    setOpening(session.id);
    await attempt(trans.__('Opening the session…'), async () => {
      await sessions.archive.takeOver(session);
      await openSession(session.id);
    });
    setOpening('');
  };
  const root = sessions.connection.server.rootDir;
  return (
    <section aria-labelledby={heading}>
      <details>
        <summary id={heading} className="jp-acp-Heading">
          {trans.__('Started outside JupyterLab')}
          <span className="jp-acp-Badge">{shown.length}</span>
        </summary>
        <ul className="jp-acp-List">
          {shown.map(session => (
            <li key={session.id} className="jp-acp-Foreign">
              <button
                type="button"
                className="jp-acp-Session-row"
                disabled={opening !== ''}
                aria-busy={opening === session.id}
                onClick={() => void open(session)}
              >
                <span className="jp-acp-Row-text">
                  <span className="jp-acp-Session-line">
                    <span className="jp-acp-Row-title">
                      {titleOf(session, trans)}
                    </span>
                    {session.updated && <Ago time={session.updated} />}
                  </span>
                  <span className="jp-acp-Session-detail">
                    <span title={session.cwd}>
                      {opening === session.id
                        ? trans.__('Opening the session…')
                        : `${nameOf(session)} · ${folderOf(session.cwd, root)}`}
                    </span>
                  </span>
                </span>
              </button>
            </li>
          ))}
        </ul>
      </details>
    </section>
  );
}
