// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type * as nbformat from '@jupyterlab/nbformat';

/** A call of one of our own tools, as the server that served it tells it. */
export interface IToolRecord {
  /** Ours; the same when it begins and when it ends. */
  readonly id: string;
  /** What the agent calls it, if that is known. */
  readonly toolCallId: string | null;
  readonly name: string;
  readonly arguments: unknown;
  readonly title: string;
  readonly status: 'in_progress' | 'completed' | 'failed';
  /** The document that it is about, absolute. */
  readonly path?: string;
  readonly result?: unknown;
  readonly error?: { message: string };
}

/** What running some code brought. */
export interface IRun {
  readonly source: string;
  /** That of the kernel. */
  readonly language: string;
  /** The place counts from 0. */
  readonly cell?: { readonly id: string; readonly index: number };
  readonly outputs: readonly nbformat.IOutput[];
  readonly executionCount: number | null;
  readonly status: string;
  /** What there is to know besides. */
  readonly note: string;
}

export interface IVariable {
  readonly name: string;
  readonly type: string;
  readonly shape?: string | null;
  readonly value: string;
}

export interface IVariables {
  readonly variables: readonly IVariable[];
  /** How many more there are. */
  readonly more: number;
  /** Modules by the names that they have here. */
  readonly imports: Readonly<Record<string, string>>;
}

const STATUSES: readonly unknown[] = ['in_progress', 'completed', 'failed'];

/** A record, if it is one: those of imported sessions may be anything. */
export function toolRecord(params: unknown): IToolRecord | null {
  const record = fieldsOf(params) as Partial<IToolRecord>;
  const { id, name, title, status, error } = record;
  if (
    [id, name, title].some(field => typeof field !== 'string') ||
    !STATUSES.includes(status)
  ) {
    return null;
  }
  const message = fieldsOf(error).message;
  return {
    ...(record as IToolRecord),
    toolCallId: text(record.toolCallId) || null,
    path: text(record.path) || undefined,
    error: typeof message === 'string' ? { message } : undefined
  };
}

/** The runs that a record tells of, one after the other. */
export function runsOf({ name, result }: IToolRecord): IRun[] {
  switch (name) {
    case 'run_cell':
    case 'run_code':
      return result === undefined ? [] : [toRun(result, languageOf(result))];
    case 'run_cells':
      return list(fieldsOf(result).cells).map(cell =>
        toRun(cell, languageOf(result))
      );
    default:
      return [];
  }
}

/** The code that is still running, as far as the call itself tells it. */
export function codeOf({ name, arguments: given }: IToolRecord): string {
  return name === 'run_code' ? text(fieldsOf(given).code) : '';
}

export function variablesOf({ name, result }: IToolRecord): IVariables | null {
  if (name !== 'read_variables' || result === undefined) {
    return null;
  }
  const { variables, more, imports } = fieldsOf(result);
  return {
    variables: list(variables).map(each => {
      const { name, type, shape, value } = fieldsOf(each);
      return {
        name: text(name),
        type: text(type),
        shape: text(shape),
        value: text(value)
      };
    }),
    more: typeof more === 'number' ? more : 0,
    imports: Object.fromEntries(
      Object.entries(fieldsOf(imports)).map(([as, of]) => [as, text(of)])
    )
  };
}

/** The outputs that were looked at. */
export function outputsOf({ name, result }: IToolRecord): nbformat.IOutput[] {
  return name === 'cell_output' ? outputs(fieldsOf(result).outputs) : [];
}

/** What a kernel speaks, which is told by itself. */
function languageOf(result: unknown): string {
  const language = text(fieldsOf(result).language);
  return /^[\w.+#-]+$/.test(language) ? language : 'python';
}

function toRun(value: unknown, language: string): IRun {
  const run = fieldsOf(value);
  const cell = fieldsOf(run.cell);
  const { executionCount } = run;
  return {
    source: text(run.source),
    language,
    cell:
      typeof cell.index === 'number'
        ? { id: text(cell.id), index: cell.index }
        : undefined,
    outputs: outputs(run.outputs),
    executionCount: typeof executionCount === 'number' ? executionCount : null,
    status: text(run.status),
    note: text(run.note)
  };
}

/** Those that can be shown: they come from kernels, which may send anything. */
function outputs(value: unknown): nbformat.IOutput[] {
  return list(value).flatMap((each): nbformat.IOutput[] => {
    const { output_type: type, ...rest } = fieldsOf(each);
    switch (type) {
      case 'stream':
        return [
          { output_type: type, name: text(rest.name), text: joined(rest.text) }
        ];
      case 'error':
        return [
          {
            output_type: type,
            ename: text(rest.ename),
            evalue: text(rest.evalue),
            traceback: list(rest.traceback).map(text)
          }
        ];
      case 'display_data':
      case 'execute_result':
        return [
          {
            output_type: 'display_data',
            data: bundle(rest.data),
            metadata: fieldsOf(rest.metadata) as nbformat.OutputMetadata
          }
        ];
      default:
        return [];
    }
  });
}

/** What a notebook keeps as lines is one text. */
function bundle(data: unknown): nbformat.IMimeBundle {
  return Object.fromEntries(
    Object.entries(fieldsOf(data)).map(([type, value]) => [
      type,
      type.endsWith('json') ? value : joined(value)
    ])
  ) as nbformat.IMimeBundle;
}

function joined(value: unknown): string {
  return Array.isArray(value) ? value.map(text).join('') : text(value);
}

export function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
