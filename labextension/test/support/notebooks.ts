// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { ICellState } from '../../src/diff/notebook';

export function cell(
  id: string,
  source: string,
  extra: object = {}
): ICellState {
  return {
    id,
    cell_type: 'code',
    source,
    metadata: {},
    attachments: null,
    outputs: [],
    execution_count: null,
    ...extra
  };
}

/** What a code cell has that has printed something. */
export function printed(text: string): Pick<ICellState, 'outputs'> {
  return { outputs: [{ output_type: 'stream', name: 'stdout', text }] };
}
