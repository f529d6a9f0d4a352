// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IRow } from '../ui/row';
import type { IChange, INotedChange } from './changes';

/** A change that the server noted, shown unless a tool call shows it. */
export interface IChangeItem extends IRow, INotedChange {
  kind: 'change';
}

/** Everything that a turn has changed. */
export interface ISummaryItem extends IRow {
  kind: 'summary';
  changes: readonly IChange[];
}
