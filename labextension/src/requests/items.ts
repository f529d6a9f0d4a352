// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IRow } from '../ui/row';

export interface IAnswerItem extends IRow {
  kind: 'answer';
  method: string;
  params: unknown;
  outcome: unknown;
}
