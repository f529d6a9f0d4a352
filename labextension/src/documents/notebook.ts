// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { JSONExt, type PartialJSONValue } from '@lumino/coreutils';

export type CellType = 'code' | 'markdown' | 'raw';

type JSONMap = Record<string, PartialJSONValue | undefined>;

/** A cell in which every field is there, so that two can be compared. */
export interface ICellState {
  /** Empty in what an agent wrote without ids. */
  id: string;
  cell_type: CellType;
  source: string;
  metadata: JSONMap;
  attachments: PartialJSONValue;
  outputs: PartialJSONValue[];
  execution_count: number | null;
}

export interface INotebookState {
  metadata: JSONMap;
  cells: ICellState[];
}

/** The reason why something is not a notebook. */
export class InvalidNotebookError extends Error {}

/** Read a notebook's JSON; only what we rely on is checked. */
export function parseNotebook(content: unknown): INotebookState {
  const { nbformat, metadata, cells } = asMap(content, 'The notebook');
  if (nbformat !== undefined && nbformat !== 4) {
    throw new InvalidNotebookError('Only notebooks of format 4 are supported.');
  }
  if (!Array.isArray(cells)) {
    throw new InvalidNotebookError('The notebook has no list of cells.');
  }
  return {
    metadata: { ...asMap(metadata ?? {}, 'The metadata') },
    cells: cells.map((cell, index) => parseCell(cell, `Cell ${index + 1}`))
  };
}

export function parseCell(cell: unknown, name: string): ICellState {
  const given = asMap(cell, name);
  const type = given.cell_type;
  if (type !== 'code' && type !== 'markdown' && type !== 'raw') {
    throw new InvalidNotebookError(`${name} has no known cell type.`);
  }
  const source = joined(given.source);
  if (typeof source !== 'string') {
    throw new InvalidNotebookError(`${name} has no source.`);
  }
  const outputs = type === 'code' ? (given.outputs ?? []) : [];
  if (!Array.isArray(outputs)) {
    throw new InvalidNotebookError(`The outputs of ${name} are not a list.`);
  }
  const metadata = { ...asMap(given.metadata ?? {}, `${name}'s metadata`) };
  // Trust is the user's to give: whoever writes it into a file has none.
  delete metadata.trusted;
  const count = type === 'code' ? given.execution_count : null;
  return {
    id: typeof given.id === 'string' ? given.id : '',
    cell_type: type,
    source: withPlainLineEnds(source),
    metadata,
    attachments: type === 'code' ? null : (given.attachments ?? null),
    outputs: outputs.map(output => parseOutput(output, name)),
    execution_count: typeof count === 'number' ? count : null
  };
}

/**
 * A name for each cell that no other cell of the notebook has. Ids should be
 * unique, but files in which they are not exist and open.
 */
export function keysOf(cells: readonly { id: string }[]): string[] {
  const seen = new Map<string, number>();
  return cells.map(({ id }) => {
    const count = seen.get(id) ?? 0;
    seen.set(id, count + 1);
    return count ? `${id}\0${count}` : id;
  });
}

/**
 * Models hold no other line ends: a context remembers a file's own ones when
 * it loads it and puts them back when it saves.
 */
export function withPlainLineEnds(text: string): string {
  return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
}

/** Compare two pieces of JSON, either of which may be absent. */
export function isSame(one: unknown, other: unknown): boolean {
  if (one === undefined || other === undefined) {
    return one === other;
  }
  return JSONExt.deepEqual(one as PartialJSONValue, other as PartialJSONValue);
}

function asMap(value: unknown, name: string): JSONMap {
  if (!value || typeof value !== 'object' || Array.isArray(value)) {
    throw new InvalidNotebookError(`${name} is not an object.`);
  }
  return value as JSONMap;
}

/** Files keep long texts as lists of lines, models as one string. */
function joined(value: PartialJSONValue | undefined): typeof value {
  return Array.isArray(value) && value.every(each => typeof each === 'string')
    ? value.join('')
    : value;
}

function parseOutput(
  output: PartialJSONValue | undefined,
  name: string
): PartialJSONValue {
  const given = { ...asMap(output, `An output of ${name}`) };
  if (given.output_type === 'stream') {
    given.text = joined(given.text) ?? '';
  } else if (given.data) {
    const data = { ...asMap(given.data, `The data of an output of ${name}`) };
    for (const type of Object.keys(data)) {
      if (!/[/+]json$/.test(type)) {
        data[type] = joined(data[type]);
      }
    }
    given.data = data;
  }
  return given;
}
