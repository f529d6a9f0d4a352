// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IRemoteResult } from '../protocol';
import type { IRow } from '../ui/row';

/** What a turn of a remote session has brought back; it has one item for good. */
export interface IResultItem extends IRow {
  kind: 'result';
  result: IRemoteResult;
}
