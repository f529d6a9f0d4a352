// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import { Content } from '../ui/content';
import { useChat } from '../ui/context';
import { Markdown } from '../ui/markdown';
import type { ICompactionItem } from './items';

interface ICompactionProps {
  item: ICompactionItem;
  revision: number;
}

/** Where the agent began to forget, and what it remembers instead. */
export function Compaction({ item, revision }: ICompactionProps): JSX.Element {
  const { trans } = useChat();
  const title = statusWords(item.status, trans);
  return (
    <section className="jp-acp-Compaction" aria-label={title}>
      <div className="jp-acp-Compaction-title">
        {item.status === 'in_progress' && (
          <span
            className="jp-acp-Spinner"
            role="progressbar"
            aria-label={title}
          />
        )}
        <span>{title}</span>
      </div>
      {item.error && <p className="jp-acp-Notice">{item.error}</p>}
      {item.summary.length > 0 && (
        <details className="jp-acp-Compaction-summary">
          <summary>{trans.__('Summary')}</summary>
          {item.summary.map((part, index) =>
            part.type === 'text' ? (
              <Markdown key={index} blocks={part.blocks} revision={revision} />
            ) : (
              <Content key={index} block={part.block} />
            )
          )}
        </details>
      )}
    </section>
  );
}

type Trans = ReturnType<typeof useChat>['trans'];

function statusWords(status: string, trans: Trans): string {
  switch (status) {
    case 'in_progress':
      return trans.__('Compacting the conversation…');
    case 'completed':
      return trans.__('The conversation was compacted');
    case 'failed':
      return trans.__('Compacting the conversation failed');
    case 'cancelled':
      return trans.__('Compacting the conversation was stopped');
    default:
      return trans.__('Compacting the conversation: %1', status);
  }
}
