// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Time } from '@jupyterlab/coreutils';
import {
  Button,
  caretDownIcon,
  caretRightIcon,
  launchIcon
} from '@jupyterlab/ui-components';
import * as React from 'react';

import { Parts } from '../changes/change';
import { useChanges } from '../changes/context';
import type { IRemoteCommit, IRemoteFile, IRemoteReview } from '../protocol';
import { useChat } from '../ui/context';
import { useKept, useLoaded } from '../ui/hooks';
import { Visible } from '../ui/visible';
import { useResults } from './context';
import { FileStatus } from './filestatus';
import type { IResultItem } from './items';
import { SHORT_REVISION } from './repository';

/** Commits that are read at first sight. */
const SHOWN_COMMITS = 3;

/** Files that are listed at first, and with each wish for more. */
const PAGE = 50;

interface IResultReviewProps {
  item: IResultItem;
  /** It was decided about: what is in it is for who asks. */
  isFolded: boolean;
}

/** What is in a result: who did what, and what became of which file. */
export function ResultReview({
  item,
  isFolded
}: IResultReviewProps): JSX.Element {
  const { trans } = useChat();
  const [isOpen, setOpen] = useKept(item, 'review', false);
  if (!isFolded) {
    return <Review item={item} />;
  }
  return (
    <Fold
      title={trans.__('Commits and files')}
      isOpen={isOpen}
      onToggle={() => setOpen(!isOpen)}
    >
      <Review item={item} />
    </Fold>
  );
}

function Review({ item }: { item: IResultItem }): JSX.Element {
  const { trans } = useChat();
  const results = useResults();
  const { value, error, reload } = useLoaded(() =>
    results.review(item.result.number)
  );
  if (error) {
    return (
      <LoadProblem
        text={trans.__('The result could not be read: %1', error)}
        onRetry={reload}
      />
    );
  }
  return value ? (
    <>
      <Commits item={item} commits={value.commits} />
      <Files item={item} files={value.files} />
    </>
  ) : (
    <p className="jp-acp-Hint" role="status">
      {trans.__('Reading the result…')}
    </p>
  );
}

interface ICommitsProps {
  item: IResultItem;
  commits: IRemoteReview['commits'];
}

/** The newest first, as git tells them. */
function Commits({ item, commits }: ICommitsProps): JSX.Element {
  const { trans } = useChat();
  const [isOpen, setOpen] = useKept(item, 'commits', false);
  const shown = isOpen
    ? commits.commits
    : commits.commits.slice(0, SHOWN_COMMITS);
  const rest = commits.total - shown.length;
  const title = trans._n('%1 commit', '%1 commits', commits.total);
  return (
    <section className="jp-acp-Result-part" aria-label={title}>
      <p className="jp-acp-Result-heading">{title}</p>
      <ul className="jp-acp-List">
        {shown.map(commit => (
          <Commit key={commit.revision} commit={commit} />
        ))}
      </ul>
      {rest > 0 &&
        (isOpen ? (
          <p className="jp-acp-Hint">
            {trans._n('and %1 older', 'and %1 older', rest)}
          </p>
        ) : (
          <button
            type="button"
            className="jp-acp-Link"
            onClick={() => setOpen(true)}
          >
            {trans.__('Show more (%1)', rest)}
          </button>
        ))}
    </section>
  );
}

function Commit({ commit }: { commit: IRemoteCommit }): JSX.Element {
  const { revision, author, email, date, subject, body } = commit;
  const line = (
    <>
      <code title={revision}>{revision.slice(0, SHORT_REVISION)}</code>{' '}
      <Visible text={subject} />{' '}
      <span className="jp-acp-Row-detail" title={email}>
        <Visible text={author} />
        {' · '}
        <time dateTime={date} title={Time.format(date)}>
          {Time.formatHuman(date, 'narrow')}
        </time>
      </span>
    </>
  );
  return (
    <li className="jp-acp-Result-commit">
      {body.trim() ? (
        <details>
          <summary>{line}</summary>
          <pre className="jp-acp-Text">
            <Visible text={body.trim()} />
          </pre>
        </details>
      ) : (
        line
      )}
    </li>
  );
}

interface IFilesProps {
  item: IResultItem;
  files: IRemoteReview['files'];
}

function Files({ item, files }: IFilesProps): JSX.Element {
  const { trans } = useChat();
  const [limit, setLimit] = useKept(item, 'files', PAGE);
  const more = files.files.length - limit;
  const unknown = files.total - files.files.length;
  const title = trans._n('%1 file changed', '%1 files changed', files.total);
  return (
    <section className="jp-acp-Result-part" aria-label={title}>
      <p className="jp-acp-Result-heading">{title}</p>
      <ul className="jp-acp-List">
        {files.files.slice(0, limit).map(file => (
          <File key={file.path} item={item} file={file} />
        ))}
      </ul>
      {more > 0 ? (
        <button
          type="button"
          className="jp-acp-Link"
          onClick={() => setLimit(limit + PAGE)}
        >
          {trans.__('Show more (%1)', more)}
        </button>
      ) : (
        unknown > 0 && (
          <p className="jp-acp-Hint">
            {trans._n('and %1 more', 'and %1 more', unknown)}
          </p>
        )
      )}
    </section>
  );
}

interface IFileProps {
  item: IResultItem;
  file: IRemoteFile;
}

/** One file, which shows what became of it when it is opened. */
function File({ item, file }: IFileProps): JSX.Element {
  const { trans } = useChat();
  const { session, viewer } = useChanges();
  const results = useResults();
  const [isOpen, setOpen] = useKept(item, `file ${file.path}`, false);
  const { path, oldPath, added, removed, binary } = file;
  const openInTab = async (): Promise<void> => {
    const { change } = await results.file(item.result.number, file);
    if (change) {
      viewer?.open(session, change);
    } else {
      setOpen(true);
    }
  };
  return (
    <li>
      <Fold
        title={
          <>
            <FileStatus status={file.status} />
            <span className="jp-acp-Result-path" title={path}>
              {oldPath && oldPath !== path && (
                <>
                  <Visible text={oldPath} /> →{' '}
                </>
              )}
              <Visible text={path} />
            </span>
            {binary ? (
              <span className="jp-acp-Row-detail">{trans.__('binary')}</span>
            ) : (
              // Of very many files, nobody has counted the lines.
              typeof added === 'number' && (
                <>
                  <span className="jp-acp-Change-added">+{added}</span>
                  <span className="jp-acp-Change-removed">−{removed ?? 0}</span>
                </>
              )
            )}
          </>
        }
        action={
          viewer &&
          !binary && (
            <Button
              minimal
              small
              className="jp-acp-Action"
              title={trans.__('Open the change in a tab')}
              aria-label={trans.__('Open the change of %1 in a tab', path)}
              // Why it cannot be shown is said where it would be.
              onClick={() => void openInTab().catch(() => setOpen(true))}
            >
              <launchIcon.react tag="span" />
            </Button>
          )
        }
        isOpen={isOpen}
        onToggle={() => setOpen(!isOpen)}
      >
        <FileChange item={item} file={file} />
      </Fold>
    </li>
  );
}

function FileChange({ item, file }: IFileProps): JSX.Element {
  const { trans } = useChat();
  const results = useResults();
  const { value, error, reload } = useLoaded(() =>
    results.file(item.result.number, file)
  );
  if (error) {
    return (
      <LoadProblem
        text={trans.__('The file could not be read: %1', error)}
        onRetry={reload}
      />
    );
  }
  if (!value) {
    return (
      <p className="jp-acp-Hint" role="status">
        {trans.__('Reading the file…')}
      </p>
    );
  }
  return value.change ? (
    <figure
      className="jp-acp-Change"
      aria-label={trans.__('Change of %1', file.path)}
    >
      <Parts change={value.change} />
    </figure>
  ) : (
    <p className="jp-acp-Hint">
      <Visible text={value.reason} />
    </p>
  );
}

interface IFoldProps {
  title: React.ReactNode;
  /** What else can be done with it. */
  action?: React.ReactNode;
  isOpen: boolean;
  onToggle: () => void;
  children: React.ReactNode;
}

/** Something whose inside is made when it is first wanted. */
function Fold({
  title,
  action,
  isOpen,
  onToggle,
  children
}: IFoldProps): JSX.Element {
  const Caret = isOpen ? caretDownIcon.react : caretRightIcon.react;
  return (
    <>
      <div className="jp-acp-Result-row">
        <button
          type="button"
          className="jp-acp-Result-fold"
          aria-expanded={isOpen}
          onClick={onToggle}
        >
          <Caret tag="span" className="jp-acp-Tool-icon" />
          {title}
        </button>
        {action}
      </div>
      {isOpen && children}
    </>
  );
}

interface ILoadProblemProps {
  text: string;
  onRetry: () => void;
}

function LoadProblem({ text, onRetry }: ILoadProblemProps): JSX.Element {
  const { trans } = useChat();
  return (
    <div className="jp-acp-Problem" role="alert">
      <Visible text={text} />
      <Button minimal small onClick={onRetry}>
        {trans.__('Try again')}
      </Button>
    </div>
  );
}
