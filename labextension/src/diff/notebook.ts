// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { JSONExt, type PartialJSONValue } from '@lumino/coreutils';

export type CellType = 'code' | 'markdown' | 'raw';

/** Some fields of a file; their names may be any, `constructor` too. */
export type Fields = Record<string, PartialJSONValue | undefined>;

/** A cell as it is in a file, with all that anybody wrote there. */
export interface IFileCell extends Fields {
  id?: PartialJSONValue;
  cell_type: CellType;
  /** Files keep long texts as lists of lines, models as one string. */
  source: string | string[];
  metadata?: Fields;
  outputs?: Fields[];
}

/** A notebook as it is in a file. */
export interface IFileNotebook {
  [name: string]: PartialJSONValue | undefined;
  metadata?: Fields;
  cells: IFileCell[];
}

/** A cell in which every field is there, so that two can be compared. */
export interface ICellState {
  /** Empty in what an agent wrote without ids. */
  id: string;
  cell_type: CellType;
  source: string;
  metadata: Fields;
  attachments: PartialJSONValue;
  outputs: PartialJSONValue[];
  execution_count: number | null;
}

export interface INotebookState {
  metadata: Fields;
  cells: ICellState[];
}

/** The reason why something is not a notebook. */
export class InvalidNotebookError extends Error {}

/** Read a notebook's JSON as it is; only what we rely on is checked. */
export function readNotebook(content: unknown): IFileNotebook {
  const given = asMap(content, 'The notebook');
  const { nbformat, metadata, cells } = given;
  if (nbformat !== undefined && nbformat !== 4) {
    throw new InvalidNotebookError('Only notebooks of format 4 are supported.');
  }
  if (!Array.isArray(cells)) {
    throw new InvalidNotebookError('The notebook has no list of cells.');
  }
  asMap(metadata ?? {}, 'The metadata');
  cells.forEach((cell, index) => readCell(cell, `Cell ${index + 1}`));
  return given as IFileNotebook;
}

/** Read a notebook's JSON and bring all spellings of it to one. */
export function parseNotebook(content: unknown): INotebookState {
  const { metadata, cells } = readNotebook(content);
  return { metadata: { ...metadata }, cells: cells.map(cellState) };
}

/** A cell without the differences that spellings make. */
export function cellState(cell: IFileCell): ICellState {
  const isCode = cell.cell_type === 'code';
  const metadata = { ...cell.metadata };
  // Trust is the user's to give: whoever writes it into a file has none.
  delete metadata.trusted;
  const count = isCode ? cell.execution_count : null;
  return {
    id: idOf(cell),
    cell_type: cell.cell_type,
    source: withPlainLineEnds(sourceOf(cell)),
    metadata,
    attachments: isCode ? null : (cell.attachments ?? null),
    outputs: isCode ? (cell.outputs ?? []).map(outputState) : [],
    execution_count: typeof count === 'number' ? count : null
  };
}

/** Empty if it has none. */
export function idOf({ id }: { id?: unknown }): string {
  return typeof id === 'string' ? id : '';
}

export function sourceOf({ source }: Pick<IFileCell, 'source'>): string {
  return typeof source === 'string' ? source : source.join('');
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

export function readCell(cell: unknown, name: string): IFileCell {
  const given = asMap(cell, name);
  const { cell_type: type, source, metadata, outputs } = given;
  if (type !== 'code' && type !== 'markdown' && type !== 'raw') {
    throw new InvalidNotebookError(`${name} has no known cell type.`);
  }
  if (typeof source !== 'string' && !isLines(source)) {
    throw new InvalidNotebookError(`${name} has no source.`);
  }
  asMap(metadata ?? {}, `${name}'s metadata`);
  if (type === 'code') {
    if (!Array.isArray(outputs ?? [])) {
      throw new InvalidNotebookError(`The outputs of ${name} are not a list.`);
    }
    for (const output of (outputs ?? []) as unknown[]) {
      const { data } = asMap(output, `An output of ${name}`);
      asMap(data ?? {}, `The data of an output of ${name}`);
    }
  }
  return given as IFileCell;
}

function asMap(value: unknown, name: string): Fields {
  if (!value || typeof value !== 'object' || Array.isArray(value)) {
    throw new InvalidNotebookError(`${name} is not an object.`);
  }
  return value as Fields;
}

function isLines(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(each => typeof each === 'string');
}

function joined(value: PartialJSONValue | undefined): typeof value {
  return isLines(value) ? value.join('') : value;
}

function outputState(output: Fields): Fields {
  const state = { ...output };
  if (state.output_type === 'stream') {
    state.text = joined(state.text) ?? '';
  } else if (state.data) {
    const data = { ...(state.data as Fields) };
    for (const type of Object.keys(data)) {
      if (!/[/+]json$/.test(type)) {
        data[type] = joined(data[type]);
      }
    }
    state.data = data;
  }
  return state;
}
