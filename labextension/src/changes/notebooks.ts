// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type * as nbformat from '@jupyterlab/nbformat';
import { OutputModel } from '@jupyterlab/rendermime';
import type { Widget } from '@lumino/widgets';
import type { IDiffEntry } from 'nbdime/lib/diff/diffentries';
import { NotebookDiffModel } from 'nbdime/lib/diff/model';
import { NotebookDiffWidget } from 'nbdime/lib/diff/widget';

import { hunks } from '../diff/hunks';
import { type OutputContext, inertRendermime } from '../ui/renderoutputs';

import 'nbdime/lib/common/collapsible.css';
import 'nbdime/lib/upstreaming/flexpanel.css';
import 'nbdime/lib/styles/variables.css';
import 'nbdime/lib/styles/common.css';
import 'nbdime/lib/styles/diff.css';

type Notebook = nbformat.INotebookContent;
type Cell = nbformat.ICell;

/** Two versions of a notebook side by side, with their outputs, by nbdime. */
export async function showNotebooks(
  oldText: string | null,
  newText: string,
  context: OutputContext
): Promise<Widget> {
  const after = parse(newText);
  const before = oldText === null ? { ...after, cells: [] } : parse(oldText);
  const model = new NotebookDiffModel(before, difference(before, after));
  const widget = new NotebookDiffWidget({
    model,
    // Agents write outputs, too.
    rendermime: inertRendermime([before, after].flatMap(outputTypes), context)
  });
  widget.addClass('nbdime-root');
  await widget.init();
  return widget;
}

/** What nbdime's own server would answer, as far as cells go. */
function difference(before: Notebook, after: Notebook): IDiffEntry[] {
  const keys = (notebook: Notebook): string[] =>
    notebook.cells.map(cell => (cell.id as string | undefined) ?? text(cell));
  const entries: IDiffEntry[] = [];
  let [at, newAt] = [0, 0];
  const compare = (until: number): void => {
    for (; at < until; at++, newAt++) {
      const diff = cellDifference(before.cells[at], after.cells[newAt]);
      if (diff.length > 0) {
        entries.push({ op: 'patch', key: at, diff });
      }
    }
  };
  for (const hunk of hunks(keys(before), keys(after))) {
    compare(hunk.start);
    entries.push(
      ...ranges(
        hunk.start,
        hunk.end,
        after.cells.slice(hunk.newStart, hunk.newEnd)
      )
    );
    [at, newAt] = [hunk.end, hunk.newEnd];
  }
  compare(before.cells.length);
  return entries.length ? [{ op: 'patch', key: 'cells', diff: entries }] : [];
}

function cellDifference(before: Cell, after: Cell): IDiffEntry[] {
  const [oldLines, newLines] = [before, after].map(
    cell => text(cell).match(/[^\n]*\n|[^\n]+$/g) ?? []
  );
  const diff = hunks(oldLines, newLines).flatMap(hunk =>
    ranges(hunk.start, hunk.end, newLines.slice(hunk.newStart, hunk.newEnd))
  );
  return diff.length ? [{ op: 'patch', key: 'source', diff }] : [];
}

function ranges(start: number, end: number, values: unknown[]): IDiffEntry[] {
  const entries: IDiffEntry[] = [];
  if (values.length > 0) {
    entries.push({ op: 'addrange', key: start, valuelist: values });
  }
  if (end > start) {
    entries.push({ op: 'removerange', key: start, length: end - start });
  }
  return entries;
}

function outputTypes({ cells }: Notebook): string[] {
  return cells
    .flatMap(cell => (cell.outputs as nbformat.IOutput[] | undefined) ?? [])
    .flatMap(output => Object.keys(OutputModel.getData(output)));
}

/** Files keep texts as lists of lines; nbdime wants them whole. */
function parse(json: string): Notebook {
  const notebook = JSON.parse(json) as Notebook;
  return {
    ...notebook,
    metadata: notebook.metadata ?? {},
    cells: notebook.cells.map(cell => ({
      ...cell,
      metadata: cell.metadata ?? {},
      source: text(cell)
    }))
  };
}

function text({ source }: Cell): string {
  return Array.isArray(source) ? source.join('') : source;
}
