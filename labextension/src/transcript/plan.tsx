// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import { useChat } from '../ui/context';
import type { IPlanItem } from './items';

interface IPlanProps {
  item: IPlanItem;
  revision: number;
}

/** What the agent means to do, and how far it is. */
export function Plan({ item }: IPlanProps): JSX.Element {
  const { trans } = useChat();
  const done = item.entries.filter(entry => entry.status === 'completed');
  return (
    <section className="jp-acp-Plan" aria-label={trans.__('Plan')}>
      <div className="jp-acp-Plan-header">
        <span>{trans.__('Plan')}</span>
        <progress
          className="jp-acp-Plan-progress"
          max={item.entries.length || 1}
          value={done.length}
          aria-label={trans.__('Progress of the plan')}
        />
        <span>
          {done.length}/{item.entries.length}
        </span>
      </div>
      <ol className="jp-acp-Plan-entries">
        {item.entries.map((entry, index) => (
          <li
            key={index}
            className={`jp-acp-Plan-entry jp-acp-mod-${entry.status ?? 'pending'}`}
            aria-current={entry.status === 'in_progress' ? 'step' : undefined}
          >
            {entry.content}
          </li>
        ))}
      </ol>
    </section>
  );
}
