// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IToolItem } from '../tools/items';
import { shownStatus } from '../tools/shown';
import type { TerminalOutput } from '../tools/terminals';
import type { IMessageItem, TranscriptItem } from './items';

/** Tool calls that went well, and what was thought between them, as one line. */
export interface IToolGroup {
  kind: 'group';
  /** Of its first item, turned so that it is nobody else's. */
  readonly key: number;
  /** Grows whenever something in it changes or is added. */
  readonly revision: number;
  readonly items: readonly (IToolItem | IMessageItem)[];
}

/** What the transcript shows one below the other. */
export type Row = TranscriptItem | IToolGroup;

/** Fewer calls than these stand each for itself. */
const MIN_CALLS = 4;

/**
 * Fold calls of which there are many in a row. What runs, failed, changed a
 * file or is asked about (its id is in `asked`) always stands for itself. What a
 * tool call tells of, too, has no row.
 */
export function toRows(
  items: readonly TranscriptItem[],
  asked: ReadonlySet<string>
): Row[] {
  const rows: Row[] = [];
  // Where a series began in the rows, how many calls it has, and its last one.
  let first = 0;
  let calls = 0;
  let last = 0;
  const endSeries = (): void => {
    if (calls >= MIN_CALLS) {
      const folded = rows.slice(first, last + 1) as IToolGroup['items'];
      rows.splice(first, folded.length, toGroup(folded));
    }
    calls = 0;
  };
  for (const item of items) {
    if (item.kind === 'change' && (item.isCovered || item.isOwned)) {
      continue;
    }
    if (item.kind === 'tool' && isQuiet(item, asked)) {
      if (calls++ === 0) {
        first = rows.length;
      }
      last = rows.length;
    } else if (item.kind !== 'thought') {
      endSeries();
    }
    rows.push(item);
  }
  endSeries();
  return rows;
}

function toGroup(items: IToolGroup['items']): IToolGroup {
  const changes = items.reduce((sum, item) => sum + item.revision + 1, 0);
  return { kind: 'group', key: -1 - items[0].key, revision: changes, items };
}

function isQuiet(item: IToolItem, asked: ReadonlySet<string>): boolean {
  const { call, record, made } = item;
  return (
    shownStatus(call, record) === 'completed' &&
    !asked.has(call.toolCallId) &&
    made.length === 0 &&
    !record?.runs.length &&
    !call.content.some(part => part.type === 'diff') &&
    Object.values(call.terminals).every(hasEndedWell)
  );
}

function hasEndedWell({ name, exit }: TerminalOutput): boolean {
  return name === undefined && !exit?.exitCode && !exit?.signal;
}
