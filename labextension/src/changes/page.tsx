// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { HTMLSelect } from '@jupyterlab/ui-components';
import * as React from 'react';

import { useChat } from '../ui/context';
import { useFrameUpdates } from '../ui/hooks';
import { Location } from '../ui/location';
import { Visible } from '../ui/visible';
import { Decisions, partTitle } from './change';
import { type INamedChange, isMade } from './changes';
import { useChanges } from './context';
import { Diff } from './diff';
import { reviewOf } from './review';

type Layout = 'side-by-side' | 'unified';

/** A change with all the room there is; of a notebook, what stands above it. */
export function ChangePage({ change }: { change: INamedChange }): JSX.Element {
  const { trans } = useChat();
  useFrameUpdates(useChanges().session.changed);
  const review = reviewOf(change);
  const [layout, setLayout] = React.useState<Layout>('side-by-side');
  const [isFolded, setFolded] = React.useState(true);
  return (
    <div className="jp-acp-ChangePage">
      <div className="jp-acp-ChangePage-bar">
        {isMade(change) ? (
          <Location path={change.path} />
        ) : (
          <Visible text={change.path} />
        )}
        <span className="jp-acp-Change-added">+{review.added}</span>
        <span className="jp-acp-Change-removed">−{review.removed}</span>
        {!review.notebooks && (
          <>
            <HTMLSelect
              value={layout}
              aria-label={trans.__('Layout')}
              onChange={event => setLayout(event.target.value as Layout)}
            >
              <option value="side-by-side">{trans.__('Side by side')}</option>
              <option value="unified">{trans.__('Unified')}</option>
            </HTMLSelect>
            <label className="jp-acp-Check">
              <input
                type="checkbox"
                checked={isFolded}
                onChange={event => setFolded(event.target.checked)}
              />
              {trans.__('Show only changes')}
            </label>
          </>
        )}
        {isMade(change) && (
          <span className="jp-acp-Actions">
            <Decisions change={change} />
          </span>
        )}
      </div>
      {isMade(change) && review.parts.length > 1 && (
        <ul className="jp-acp-ChangePage-parts">
          {review.parts.map(part => (
            <li
              key={part.id}
              className={
                change.verdicts.get(part.id) === 'undone'
                  ? 'jp-acp-mod-undone'
                  : ''
              }
            >
              {partTitle(part, trans)}
              <span className="jp-acp-Actions">
                <Decisions change={change} part={part} />
              </span>
            </li>
          ))}
        </ul>
      )}
      {!review.notebooks && (
        <Diff
          path={change.path}
          oldText={change.oldText ?? ''}
          newText={change.newText}
          layout={layout}
          isFolded={isFolded}
        />
      )}
    </div>
  );
}
