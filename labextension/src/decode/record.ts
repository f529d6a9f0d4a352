// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type * as nbformat from '@jupyterlab/nbformat';

import {
  type Fields,
  type Shape,
  amount,
  anything,
  count,
  dictionary,
  fields,
  list,
  name,
  object,
  oneOf,
  orElse,
  tagged,
  text
} from './shapes';

/** A call of one of our own tools, as the server that served it tells it. */
export interface IToolRecord {
  /** Ours; the same when it begins and when it ends. */
  readonly id: string;
  /** The agent's id of the call, if that is known. */
  readonly toolCallId?: string;
  readonly name: string;
  readonly arguments: Fields;
  readonly title: string;
  readonly status: 'in_progress' | 'completed' | 'failed';
  /** The document that it is about, absolute. */
  readonly path?: string;
  readonly error?: { readonly message: string };
  /** Code that the call itself brings; empty if it brings none. */
  readonly code: string;
  /** The runs of code, one after the other. */
  readonly runs: readonly IRun[];
  readonly variables?: IVariables;
  /** The outputs that were looked at. */
  readonly outputs: readonly nbformat.IOutput[];
  /** How many cells a notebook has, and how many of them were read. */
  readonly cells?: { readonly all: number; readonly shown?: number };
}

/** A run of some code. */
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
  readonly shape: string;
  readonly value: string;
}

export interface IVariables {
  readonly variables: readonly IVariable[];
  /** How many more there are. */
  readonly more: number;
  /** Modules by the names that they have here. */
  readonly imports: Readonly<Record<string, string>>;
}

const words = orElse(text, '');

/** Text that notebooks may keep as lines. */
const joined: Shape<string> = (value, drop) =>
  text(value, drop) ?? list(text)(value, drop)?.join('');

/** Data by type; what notebooks keep as lines is one text. */
const bundle: Shape<nbformat.IMimeBundle> = (value, drop) => {
  const data = object(value, drop);
  return (
    data &&
    (Object.fromEntries(
      Object.entries(data).map(([type, part]) => [
        type,
        type.endsWith('json') ? part : (joined(part, drop) ?? '')
      ])
    ) as nbformat.IMimeBundle)
  );
};

const displayed: Shape<nbformat.IOutput> = (value, drop) => {
  const output = fields({ data: bundle }, { metadata: object })(value, drop);
  return (
    output && {
      output_type: 'display_data',
      data: output.data,
      metadata: (output.metadata ?? {}) as nbformat.OutputMetadata
    }
  );
};

const output: Shape<nbformat.IOutput> = tagged('output_type', {
  stream: fields({
    output_type: oneOf('stream'),
    name: words,
    text: joined
  }),
  error: fields({
    output_type: oneOf('error'),
    ename: words,
    evalue: words,
    traceback: orElse(list(text), [])
  }),
  display_data: displayed,
  execute_result: displayed
});

const outputs = orElse(list(output), []);

const run = fields(
  { source: words, outputs, status: words, note: words },
  { executionCount: count, cell: fields({ id: words, index: count }) }
);

const variables: Shape<IVariables> = fields({
  variables: orElse(
    list(fields({ name: words, type: words, shape: words, value: words })),
    []
  ),
  more: orElse(amount, 0),
  imports: orElse(dictionary(text), {})
});

const record = fields(
  {
    id: name,
    name,
    title: text,
    status: oneOf('in_progress', 'completed', 'failed')
  },
  {
    arguments: object,
    toolCallId: text,
    path: text,
    error: fields({ message: text }),
    result: anything
  }
);

export const toolRecord: Shape<IToolRecord> = (value, drop) => {
  const found = record(value, drop);
  if (!found) {
    return undefined;
  }
  const { result, arguments: given = {}, toolCallId, path, ...rest } = found;
  const told = object(result, drop);
  const language = languageOf(told?.language);
  const toRun = (given: unknown): IRun[] => {
    const ran = run(given, drop);
    return ran
      ? [{ ...ran, language, executionCount: ran.executionCount ?? null }]
      : [];
  };
  const common = {
    ...rest,
    arguments: given,
    code: rest.name === 'run_code' ? (text(given.code, drop) ?? '') : '',
    toolCallId: toolCallId || undefined,
    path: path || undefined
  };
  const nothing = { runs: [], outputs: [] };
  if (!told) {
    return { ...common, ...nothing };
  }
  switch (rest.name) {
    case 'run_cell':
    case 'run_code':
      return { ...common, ...nothing, runs: toRun(told) };
    case 'run_cells': {
      const cells = list(anything)(told.cells, drop) ?? [];
      return { ...common, ...nothing, runs: cells.flatMap(toRun) };
    }
    case 'read_variables':
      return { ...common, ...nothing, variables: variables(told, drop) };
    case 'cell_output':
      return { ...common, ...nothing, outputs: outputs(told.outputs, drop)! };
    case 'read_notebook': {
      const all = amount(told.cells, drop);
      const shown = amount(told.shown, drop);
      return {
        ...common,
        ...nothing,
        cells: all === undefined ? undefined : { all, shown }
      };
    }
    default:
      return { ...common, ...nothing };
  }
};

/** The language of a kernel, which the kernel itself tells. */
function languageOf(told: unknown): string {
  return typeof told === 'string' && /^[\w.+#-]+$/.test(told) ? told : 'python';
}
