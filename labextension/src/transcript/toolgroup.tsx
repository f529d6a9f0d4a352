// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { caretDownIcon, caretRightIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import type { ToolKind } from '@agentclientprotocol/sdk';

import { shownTool } from '../tools/shown';
import { useChat } from '../ui/context';
import { useKept } from '../ui/hooks';
import type { IToolGroup } from './groups';

interface IToolGroupProps {
  group: IToolGroup;
  /** Groups are made anew each time: this is what tells that one changed. */
  revision: number;
  /** Shows one of its items. */
  render: (item: IToolGroup['items'][number]) => React.ReactNode;
}

/** Many tool calls as one line that says of which kinds they were. */
export const ToolGroup = React.memo(
  function ToolGroup({ group, render }: IToolGroupProps): JSX.Element {
    const { trans } = useChat();
    // Groups are made anew with each look; their first item stays.
    const [isOpen, setOpen] = useKept(group.items[0], 'group', false);
    const counts = countKinds(group, trans);
    const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
    const kinds = [...counts]
      .map(([kind, count]) => kindWords(kind, count, trans))
      .join(', ');
    const Caret = isOpen ? caretDownIcon.react : caretRightIcon.react;
    return (
      <section className="jp-acp-Group">
        <button
          type="button"
          className="jp-acp-Group-header"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          <Caret tag="span" className="jp-acp-Tool-icon" />
          {trans._n('%1 tool call: %2', '%1 tool calls: %2', total, kinds)}
        </button>
        {isOpen && (
          <div className="jp-acp-Group-items">{group.items.map(render)}</div>
        )}
      </section>
    );
  },
  (before, after) => before.revision === after.revision
);

type Trans = ReturnType<typeof useChat>['trans'];

function countKinds(
  { items }: IToolGroup,
  trans: Trans
): Map<ToolKind, number> {
  const counts = new Map<ToolKind, number>();
  for (const item of items) {
    if (item.kind === 'tool') {
      const { kind } = shownTool(item, trans);
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
  }
  return new Map([...counts].sort((one, other) => other[1] - one[1]));
}

function kindWords(kind: ToolKind, count: number, trans: Trans): string {
  switch (kind) {
    case 'read':
      return trans.__('%1 read', count);
    case 'edit':
      return trans.__('%1 edit', count);
    case 'delete':
      return trans.__('%1 delete', count);
    case 'move':
      return trans.__('%1 move', count);
    case 'search':
      return trans.__('%1 search', count);
    case 'execute':
      return trans.__('%1 run', count);
    case 'think':
      return trans.__('%1 think', count);
    case 'fetch':
      return trans.__('%1 fetch', count);
    case 'switch_mode':
      return trans.__('%1 change of mode', count);
    default:
      return trans.__('%1 other', count);
  }
}
