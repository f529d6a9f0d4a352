// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import type { ResultState } from '../protocol';
import { useChat } from '../ui/context';
import { CopyButton } from '../ui/copybutton';
import { useFrameUpdates } from '../ui/hooks';
import { remoteIcon } from '../ui/icons';
import { Visible } from '../ui/visible';
import { ResultActions } from './actions';
import { useResults } from './context';
import { GitProgressBar } from './gitprogress';
import type { IResultItem } from './items';
import { type IRefused, refusedBy } from './results';
import { ResultReview } from './review';

interface IResultProps {
  item: IResultItem;
  /** Results change in place: this is what tells that one did. */
  revision: number;
}

/** What a turn has brought back: what is in it, and what to do with it. */
export function Result({ item }: IResultProps): JSX.Element {
  const { trans } = useChat();
  const { number, target, state, message } = item.result;
  const { frame, isBusy, refused, run } = useResult(item);
  const title = trans.__('Result %1', number);
  return (
    <section
      ref={frame}
      className="jp-acp-Result"
      tabIndex={-1}
      aria-label={trans.__('%1 · %2', title, target.branch)}
      aria-busy={isBusy}
    >
      <div className="jp-acp-Result-header">
        <remoteIcon.react tag="span" className="jp-acp-Tool-icon" />
        <span className="jp-acp-Result-title">
          {title} ·{' '}
          <span title={`${target.url}\n${target.revision}`}>
            <Visible text={target.branch} />
          </span>
        </span>
        <CopyButton
          text={target.branch}
          label={trans.__('Copy the branch name')}
        />
        <span className={`jp-acp-Badge jp-acp-mod-${state}`} role="status">
          {stateWords(state, trans)}
        </span>
      </div>
      {message && (
        <p
          className={`jp-acp-Notice ${state === 'failed' ? 'jp-acp-mod-error' : ''}`}
          role={state === 'failed' ? 'alert' : undefined}
        >
          <Visible text={message} />
        </p>
      )}
      {state === 'fetching' && <Fetching number={number} />}
      {HAS_REVIEW.includes(state) && (
        <ResultReview item={item} isFolded={state !== 'ready'} />
      )}
      {refused && <Refused refused={refused} />}
      <ResultActions result={item.result} isBusy={isBusy} run={run} />
    </section>
  );
}

/** Those whose commits are here. */
const HAS_REVIEW: ResultState[] = ['ready', 'checkedOut', 'merged', 'picked'];

/** Does what is asked of a result, one thing at a time. */
function useResult({ result }: IResultItem): {
  frame: React.RefObject<HTMLElement>;
  isBusy: boolean;
  refused: IRefused | null;
  run: (work: () => Promise<void>) => void;
} {
  const frame = React.useRef<HTMLElement>(null);
  const [isBusy, setBusy] = React.useState(false);
  const [refused, setRefused] = React.useState<IRefused | null>(null);
  const { state } = result;
  // What was in the way of one thing says nothing of the next.
  React.useEffect(() => setRefused(null), [state]);
  const run = React.useCallback((work: () => Promise<void>) => {
    // The button that was pressed is about to go.
    frame.current?.focus();
    setRefused(null);
    setBusy(true);
    work()
      .catch(error => setRefused(refusedBy(error)))
      .finally(() => setBusy(false));
  }, []);
  return { frame, isBusy, refused, run };
}

function Fetching({ number }: { number: number }): JSX.Element {
  const { trans } = useChat();
  const results = useResults();
  useFrameUpdates(results.progressChanged);
  return (
    <GitProgressBar
      label={trans.__('Fetching the result…')}
      progress={results.progress(number)}
    />
  );
}

/** Why nothing was done, and which files are in the way. */
function Refused({ refused }: { refused: IRefused }): JSX.Element {
  const { message, files } = refused;
  return (
    <div className="jp-acp-Problem jp-acp-Result-refused" role="alert">
      <Visible text={message} />
      {files.length > 0 && (
        <ul tabIndex={0}>
          {files.map(file => (
            <li key={file}>
              <Visible text={file} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

type Trans = ReturnType<typeof useChat>['trans'];

function stateWords(state: ResultState, trans: Trans): string {
  switch (state) {
    case 'there':
      return trans.__('not fetched');
    case 'fetching':
      return trans.__('fetching');
    case 'ready':
      return trans.__('ready for review');
    case 'failed':
      return trans.__('fetch failed');
    case 'checkedOut':
      return trans.__('checked out');
    case 'merged':
      return trans.__('merged');
    case 'picked':
      return trans.__('applied');
    case 'discarded':
      return trans.__('discarded');
    default:
      return state;
  }
}
