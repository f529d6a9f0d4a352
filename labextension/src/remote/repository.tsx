// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { errorIcon, infoIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import type { IRemoteInspection, IRemoteNote } from '../protocol';
import { useChat } from '../ui/context';
import { Visible } from '../ui/visible';
import { fileWords } from './choice';
import { FileStatus } from './filestatus';

/** As many digits of a revision as people need. */
export const SHORT_REVISION = 10;

/** Files that are worth a look; more are only counted. */
const SHOWN_FILES = 100;

/** What the choice below says, too, and with numbers. */
const SAID_BY_CHOICES = ['unpushed', 'notPushed'];

/** Where a folder's repository comes from, and what of it is only here. */
export function Repository({
  found,
  revision
}: {
  found: IRemoteInspection;
  /** What the agent will find, as far as that is known. */
  revision: string | null;
}): JSX.Element {
  const { trans } = useChat();
  const { url, remote, branch, problems, warnings } = found;
  const notes = [...problems, ...warnings].filter(
    ({ code, blocking }) => blocking || !SAID_BY_CHOICES.includes(code)
  );
  return (
    <>
      <dl className="jp-acp-Remote-facts">
        <dt>{trans.__('Repository')}</dt>
        <dd>
          <Visible text={found.toplevel} />
        </dd>
        {url && (
          <>
            <dt>{trans.__('Remote')}</dt>
            <dd>
              <Visible text={url} />{' '}
              {remote && (
                <span className="jp-acp-Badge">
                  <Visible text={remote} />
                </span>
              )}
            </dd>
          </>
        )}
        <dt>{trans.__('Branch')}</dt>
        <dd>{branch ? <Visible text={branch} /> : trans.__('none')}</dd>
        {found.revision && (
          <>
            <dt>{trans.__('Revision')}</dt>
            <dd>
              {revision ? (
                <code title={revision}>
                  {revision.slice(0, SHORT_REVISION)}
                </code>
              ) : (
                trans.__('a new commit of your current work')
              )}
            </dd>
          </>
        )}
      </dl>
      {notes.length > 0 && (
        <ul className="jp-acp-Remote-notes">
          {notes.map((note, index) => (
            <Note key={index} note={note} isProblem={problems.includes(note)} />
          ))}
        </ul>
      )}
      {found.changeCount > 0 && <Uncommitted found={found} />}
    </>
  );
}

interface INoteProps {
  note: IRemoteNote;
  isProblem: boolean;
}

function Note({ note, isProblem }: INoteProps): JSX.Element {
  const { trans } = useChat();
  const Icon = isProblem ? errorIcon.react : infoIcon.react;
  const level = note.blocking ? 'error' : isProblem ? 'warning' : 'info';
  return (
    <li className={`jp-acp-Remote-note jp-acp-mod-${level}`}>
      <Icon tag="span" className="jp-acp-Remote-icon" />
      <span>
        {note.blocking && (
          <span className="jp-acp-mod-unseen">{trans.__('Problem:')} </span>
        )}
        <Visible text={note.message} />
      </span>
    </li>
  );
}

/** What is not committed, for who wants to know. */
function Uncommitted({ found }: { found: IRemoteInspection }): JSX.Element {
  const { trans } = useChat();
  const shown = found.changes.slice(0, SHOWN_FILES);
  const rest =
    found.changeCount - shown.reduce((sum, { files }) => sum + files, 0);
  const title = fileWords(found.changeCount, trans);
  return (
    <details className="jp-acp-Remote-files">
      <summary>{title}</summary>
      {/* It scrolls, and must be reached by who has no mouse. */}
      <ul className="jp-acp-List" tabIndex={0} aria-label={title}>
        {shown.map(({ status, path, files }) => (
          <li key={path}>
            <FileStatus status={status} />
            <Visible text={path} />
            {path.endsWith('/') && (
              <span className="jp-acp-Hint">
                {trans._n('%1 file', '%1 files', files)}
              </span>
            )}
          </li>
        ))}
      </ul>
      {rest > 0 && (
        <p className="jp-acp-Hint">
          {trans._n('and %1 more', 'and %1 more', rest)}
        </p>
      )}
    </details>
  );
}
