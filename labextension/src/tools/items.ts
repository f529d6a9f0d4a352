// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IChange } from '../changes/changes';
import type { IToolRecord } from '../decode/record';
import type { IRow } from '../ui/row';
import type { IToolCall } from './call';

export interface IToolItem extends IRow {
  kind: 'tool';
  call: IToolCall;
  /** What its diffs show, by their place in its content. */
  changes: ReadonlyMap<number, IChange>;
  /** What our server tells of it, if it is a call of one of our own tools. */
  record?: IToolRecord;
  /** What our server has seen it change. */
  made: readonly IChange[];
  /** The agent asked for it, and was answered that our own rules decide. */
  isRuled: boolean;
}
