// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { ICellModel, ICodeCellModel } from '@jupyterlab/cells';
import type { IOutput } from '@jupyterlab/nbformat';
import type { INotebookModel, Notebook } from '@jupyterlab/notebook';

/** A cell in words: what it says, what it printed, what went wrong. */
export interface ICellText {
  id: string;
  /** Counted from 1, as people do. */
  number: number;
  type: string;
  source: string;
  output: string;
  /** The same without what went wrong. */
  printed: string;
  /** The traceback, without the codes that colour it. */
  error: string;
}

/** More than this of an output tells nobody anything. */
const MAX_OUTPUT_CHARS = 8000;
// eslint-disable-next-line no-control-regex
const COLOURS = /\u001b\[[0-9;]*m/g;

export function cellTexts(model: INotebookModel): ICellText[] {
  return Array.from(model.cells, cellText);
}

export function cellText(cell: ICellModel, index: number): ICellText {
  const outputs =
    cell.type === 'code' ? (cell as ICodeCellModel).outputs.toJSON() : [];
  const isError = ({ output_type: type }: IOutput): boolean => type === 'error';
  const words = (some: IOutput[]): string =>
    cut(some.map(outputText).filter(Boolean).join('\n'));
  return {
    id: cell.id,
    number: index + 1,
    type: cell.type,
    source: cell.sharedModel.getSource(),
    output: words(outputs),
    printed: words(outputs.filter(output => !isError(output))),
    error: words(outputs.filter(isError))
  };
}

/** The notebook inside of a widget, if there is one. */
export function notebookOf(widget: unknown): Notebook | null {
  const { content } = (widget ?? {}) as { content?: Partial<Notebook> };
  return content && 'activeCellChanged' in content
    ? (content as Notebook)
    : null;
}

function outputText(output: IOutput): string {
  if (output.output_type === 'stream') {
    return cut(joined(output.text)).replace(COLOURS, '');
  }
  if (output.output_type === 'error') {
    const { ename, evalue, traceback } = output as {
      ename?: string;
      evalue?: string;
      traceback?: string[];
    };
    return traceback?.length
      ? traceback.join('\n').replace(COLOURS, '')
      : `${ename}: ${evalue}`;
  }
  const data = (output.data ?? {}) as Record<string, unknown>;
  return joined(data['text/plain']);
}

function joined(text: unknown): string {
  return Array.isArray(text)
    ? text.join('')
    : typeof text === 'string'
      ? text
      : '';
}

/** The ends of a long text: what it began with, and how it went. */
export function cut(text: string, chars = MAX_OUTPUT_CHARS): string {
  const half = Math.floor(chars / 2);
  return text.length <= chars
    ? text
    : `${text.slice(0, half)}\n…\n${text.slice(-half)}`;
}
