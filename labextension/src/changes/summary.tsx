// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import { useChat } from '../ui/context';
import { Location } from '../ui/location';
import { mayDelete } from './change';
import { type Decision, type IChange, deletesFile, partsFor } from './changes';
import { useChanges } from './context';
import type { ISummaryItem } from './items';
import { reviewOf } from './review';

interface ISummaryProps {
  item: ISummaryItem;
  /** Decisions change the item in place: this is what tells that one did. */
  revision: number;
}

/** What a turn has changed in all, and the ways to keep or undo all of it. */
export function Summary({ item }: ISummaryProps): JSX.Element {
  const { trans } = useChat();
  const { session, viewer } = useChanges();
  const [isBusy, setBusy] = React.useState(false);
  const files = byFile(item.changes);
  const can = (decision: Decision): boolean =>
    session.mayDecide &&
    item.changes.some(change => partsFor(change, decision).length > 0);
  const decide = async (decision: Decision): Promise<void> => {
    if (decision === 'undo') {
      const deleted = item.changes.filter(change => deletesFile(change));
      if (!(await mayDelete(deleted, trans))) {
        return;
      }
    }
    setBusy(true);
    await session.decideAll(item.changes, decision);
    setBusy(false);
  };
  const title = trans._n('%1 file changed', '%1 files changed', files.size);
  return (
    <section className="jp-acp-Summary" aria-label={title}>
      <div className="jp-acp-Summary-header">
        <span className="jp-acp-Summary-title">{title}</span>
        {can('keep') && (
          <button
            type="button"
            className="jp-acp-Link"
            disabled={isBusy}
            onClick={() => void decide('keep')}
          >
            {trans.__('Keep all')}
          </button>
        )}
        {can('undo') ? (
          <button
            type="button"
            className="jp-acp-Link"
            disabled={isBusy}
            onClick={() => void decide('undo')}
          >
            {trans.__('Undo all')}
          </button>
        ) : (
          can('redo') && (
            <button
              type="button"
              className="jp-acp-Link"
              disabled={isBusy}
              onClick={() => void decide('redo')}
            >
              {trans.__('Redo all')}
            </button>
          )
        )}
      </div>
      <ul className="jp-acp-Summary-files">
        {[...files].map(([path, changes]) => (
          <li key={path}>
            <Location path={path} />
            <span className="jp-acp-Change-added">
              +{sum(changes, 'added')}
            </span>
            <span className="jp-acp-Change-removed">
              −{sum(changes, 'removed')}
            </span>
            <span className="jp-acp-Summary-verdict">
              {verdict(changes, trans)}
            </span>
            {viewer && (
              <button
                type="button"
                className="jp-acp-Link"
                aria-label={trans.__('Review %1', path)}
                onClick={() => viewer.open(session, changes.at(-1)!)}
              >
                {trans.__('Review')}
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function byFile(changes: readonly IChange[]): Map<string, IChange[]> {
  const files = new Map<string, IChange[]>();
  for (const change of changes) {
    files.set(change.path, [...(files.get(change.path) ?? []), change]);
  }
  return files;
}

function sum(changes: readonly IChange[], field: 'added' | 'removed'): number {
  return changes.reduce((total, each) => total + reviewOf(each)[field], 0);
}

type Trans = ReturnType<typeof useChat>['trans'];

/** What was decided about a file, if it was about all of it. */
function verdict(changes: readonly IChange[], trans: Trans): string {
  const all = (decision: Decision): boolean =>
    changes.every(change => partsFor(change, decision).length === 0);
  if (all('undo')) {
    return trans.__('undone');
  }
  return all('keep') ? trans.__('kept') : '';
}
