// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type * as nbformat from '@jupyterlab/nbformat';
import { OutputModel } from '@jupyterlab/rendermime';
import type { Widget } from '@lumino/widgets';
import { NotebookDiffModel } from 'nbdime/lib/diff/model';
import { NotebookDiffWidget } from 'nbdime/lib/diff/widget';

import type { Fields, IFileNotebook } from '../diff/notebook';
import { type OutputContext, inertRendermime } from '../ui/renderoutputs';
import {
  type IShownNotebook,
  notebookDifference,
  shownNotebook
} from './notebookdiff';
import type { INotebooks } from './review';

import 'nbdime/lib/common/collapsible.css';
import 'nbdime/lib/upstreaming/flexpanel.css';
import 'nbdime/lib/styles/variables.css';
import 'nbdime/lib/styles/common.css';
import 'nbdime/lib/styles/diff.css';

/** Two versions of a notebook side by side, with their outputs, by nbdime. */
export async function showNotebooks(
  { before, after }: INotebooks,
  context: OutputContext
): Promise<Widget> {
  const [base, remote] = [shownNotebook(before), shownNotebook(after)];
  const model = new NotebookDiffModel(
    base as unknown as nbformat.INotebookContent,
    notebookDifference(base, remote)
  );
  // It looks for the language in the metadata, which are a text here.
  const mimetype = mimetypeOf(after);
  for (const { cellType, source } of model.cells) {
    if (cellType === 'code' && mimetype) {
      source.mimetype = mimetype;
    }
  }
  const widget = new NotebookDiffWidget({
    model,
    // Agents write outputs, too.
    rendermime: inertRendermime([base, remote].flatMap(outputTypes), context)
  });
  widget.addClass('nbdime-root');
  await widget.init();
  return widget;
}

function outputTypes({ cells }: IShownNotebook): string[] {
  return cells
    .flatMap(cell => cell.outputs as unknown as nbformat.IOutput[])
    .flatMap(output => Object.keys(OutputModel.getData(output)));
}

function mimetypeOf({ metadata }: IFileNotebook): string | undefined {
  const info = metadata?.language_info as Fields | null | undefined;
  return typeof info?.mimetype === 'string' ? info.mimetype : undefined;
}
