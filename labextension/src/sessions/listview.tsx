// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import type { IAgent, ISessionInfo } from '../protocol';
import { useFrameUpdates } from '../ui/hooks';
import { useSessions } from './context';
import { Elsewhere } from './elsewhere';
import { ImportButton } from './importbutton';
import { SessionRow } from './row';
import { useSaid } from './search';
import { folderOf, placeOf, titleOf } from './words';

/** Rows that are shown at first, and with each wish for more. */
const PAGE = 50;

/** Every session of the server, to be searched and opened again. */
export function SessionListView({
  agents
}: {
  agents: readonly IAgent[];
}): JSX.Element {
  const { sessions, trans } = useSessions();
  const { list } = sessions;
  useFrameUpdates(list.changed);
  const [wanted, setWanted] = React.useState('');
  const [limit, setLimit] = React.useState(PAGE);
  const heading = React.useId();
  const names = new Map(agents.map(agent => [agent.id, agent.name]));
  const nameOf = (session: ISessionInfo) =>
    names.get(session.agent) ?? session.agent;

  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  const said = useSaid(words.join(' '));
  const root = sessions.connection.server.rootDir;
  const found = list.all.filter(session => {
    const text = [
      titleOf(session, trans),
      nameOf(session),
      folderOf(session.cwd, root),
      placeOf(session, root),
      session.remote?.branch
    ]
      .join('\n')
      .toLowerCase();
    return (
      words.every(word => text.includes(word)) || said.places.has(session.id)
    );
  });
  const rest = found.length - limit;
  return (
    <>
      <section aria-labelledby={heading}>
        <div className="jp-acp-Heading-line">
          <h2 id={heading} className="jp-acp-Heading">
            {trans.__('Sessions')}
          </h2>
          {!sessions.isGuest && <ImportButton />}
        </div>
        {list.all.length > 0 && (
          <input
            type="search"
            className="jp-acp-Search jp-mod-styled"
            aria-label={trans.__('Search the sessions')}
            placeholder={trans.__('Title, agent, folder or transcript')}
            value={wanted}
            onChange={event => {
              setWanted(event.target.value);
              setLimit(PAGE);
            }}
          />
        )}
        <p className="jp-acp-Hint" role="status">
          {said.problem ||
            (words.length > 0 &&
              (found.length
                ? trans._n('One session', '%1 sessions', found.length)
                : said.isSearching
                  ? trans.__('Searching the transcripts…')
                  : trans.__('No matching sessions.')))}
        </p>
        <ul className="jp-acp-List">
          {found.slice(0, limit).map(session => (
            <SessionRow
              key={session.id}
              session={session}
              agent={nameOf(session)}
              place={said.places.get(session.id)?.[0]}
            />
          ))}
        </ul>
        {rest > 0 && (
          <button
            type="button"
            className="jp-acp-More jp-mod-styled"
            onClick={() => setLimit(limit + PAGE)}
          >
            {trans.__('Show more (%1)', rest)}
          </button>
        )}
      </section>
      {!sessions.isGuest && <Elsewhere nameOf={nameOf} />}
    </>
  );
}
