// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { TranslationBundle } from '@jupyterlab/translation';
import type { ToolKind } from '@agentclientprotocol/sdk';

import type { IToolRecord } from '../decode/record';
import type { IToolCall } from './call';
import type { IToolItem } from './items';
import { callWords, ownKind, ownTool } from './owntools';

/** How a tool call is shown: in our own words where we know what it is. */
export interface IShownTool {
  /** Empty if nobody says what it is. */
  readonly title: string;
  readonly kind: ToolKind;
  readonly status: IToolCall['status'];
}

export function shownTool(
  { call, record }: Pick<IToolItem, 'call' | 'record'>,
  trans: TranslationBundle
): IShownTool {
  if (!record) {
    const tool = ownTool(call.title) ?? ownTool(call.toolName ?? '');
    const kind = tool && call.kind === 'other' ? ownKind(tool) : call.kind;
    return { title: callWords(call, trans), kind, status: call.status };
  }
  return {
    title: recordTitle(record, trans),
    kind: ownKind(record.name),
    status: shownStatus(call, record)
  };
}

/** Where a call stands: our server knows better than the agent. */
export function shownStatus(
  call: IToolCall,
  record: IToolRecord | undefined
): IToolCall['status'] {
  const isLeft = record?.status === 'in_progress' && call.status === 'ended';
  return record && !isLeft ? record.status : call.status;
}

function recordTitle(
  { cells, path, title }: IToolRecord,
  trans: TranslationBundle
): string {
  if (!path || !cells) {
    return title;
  }
  const { all, shown } = cells;
  const file = path.split('/').at(-1) ?? path;
  return shown !== undefined && shown < all
    ? trans.__('Read %1 of %2 cells of %3', shown, all, file)
    : trans._n('Read %1 cell of %2', 'Read %1 cells of %2', all, file);
}
