// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { INotebookModel } from '@jupyterlab/notebook';
import type { PartialJSONValue } from '@lumino/coreutils';

import {
  type ICellState,
  type INotebookState,
  cellState,
  readCell
} from '../diff/notebook';
import type { ICellEdit, INotebookPlan } from './notebookchange';
import { textEdits } from './textchange';

type SharedNotebook = INotebookModel['sharedModel'];
type CellModel = ReturnType<INotebookModel['cells']['get']>;
type NewCell = Parameters<SharedNotebook['insertCell']>[1];

/** What code cells have besides, and what the others have. */
interface ISharedFields {
  executionState: string;
  execution_count: number | null;
  setOutputs(outputs: PartialJSONValue[]): void;
  setAttachments(attachments: PartialJSONValue | undefined): void;
}

/** The part of a shared file or cell that holds its text. */
export interface ISharedText {
  getSource(): string;
  updateSource(start: number, end: number, value?: string): void;
  transact(change: () => void, undoable?: boolean): void;
}

/** Change a text so that it can be undone in one step. */
export function applyText(shared: ISharedText, wanted: string): void {
  asOneStep(shared, () => editText(shared, wanted));
}

/** The live notebook; unlike its JSON, always with the ids of its cells. */
export function notebookState(shared: SharedNotebook): INotebookState {
  return {
    metadata: { ...shared.metadata },
    cells: shared.cells.map((cell, index) =>
      cellState(readCell(cell.toJSON(), `Cell ${index + 1}`))
    )
  };
}

/** The live notebook as a file would have it, but always with ids. */
export function notebookContent(shared: SharedNotebook): object {
  const content = shared.toJSON();
  content.cells.forEach((cell, index) => {
    // Files before format 4.5 have none, so that they are left out for those.
    // Without them nobody could tell which cell is which in what comes back.
    cell.id = shared.cells[index].getId();
    // Whom the user trusts is no business of whoever reads the document.
    delete cell.metadata.trusted;
  });
  return content;
}

/** Whether a cell waits for the kernel, which would lose it if it moved. */
export function isRunning(shared: SharedNotebook, index: number): boolean {
  const cell = shared.cells[index] as unknown as Partial<ISharedFields>;
  return cell.executionState === 'running';
}

/** Do what was planned, nothing of which can be refused any more. */
export function applyPlan(model: INotebookModel, plan: INotebookPlan): void {
  const shared = model.sharedModel;
  const cells = [...model.cells];
  const editTexts = (edit: typeof editText): void => {
    for (const [index, { source }] of plan.edits) {
      if (source !== undefined) {
        edit(cells[index].sharedModel, source);
      }
    }
  };
  if (shared.disableDocumentWideUndoRedo) {
    // Each cell has its own undo manager, which follows only what the cell
    // itself begins: inside of a change of the notebook it would see nothing.
    editTexts(applyText);
    asOneStep(shared, () => rearrange(model, cells, plan));
  } else {
    asOneStep(shared, () =>
      shared.transact(() => {
        editTexts(editText);
        rearrange(model, cells, plan);
      })
    );
  }
  for (const [index, edit] of plan.edits) {
    setFields(cells[index], edit);
  }
  for (const [key, value] of Object.entries(plan.metadata)) {
    if (value === undefined) {
      shared.deleteMetadata(key);
    } else {
      shared.setMetadata(key, value);
    }
  }
}

function editText(shared: ISharedText, wanted: string): void {
  shared.transact(() => {
    // From the end, so that the places of the others stay right.
    for (const edit of textEdits(shared.getSource(), wanted).reverse()) {
      shared.updateSource(edit.start, edit.end, edit.text);
    }
  });
}

/** Undo managers join what follows closely; this is nobody's typing. */
function asOneStep(shared: object, change: () => void): void {
  const { undoManager } = shared as {
    undoManager?: { stopCapturing(): void } | null;
  };
  undoManager?.stopCapturing();
  change();
  undoManager?.stopCapturing();
}

function rearrange(
  model: INotebookModel,
  cells: readonly CellModel[],
  { removals, insertions }: INotebookPlan
): void {
  if (!removals.length && !insertions.length) {
    return;
  }
  const shared = model.sharedModel;
  const added = insertions.map(({ index, cell, movedFrom }) => {
    // As JupyterLab has it: there is nothing to distrust without outputs.
    const isTrusted =
      !cell.outputs.length ||
      (movedFrom !== undefined && cells[movedFrom].trusted);
    return { index, cell: newCell(cell, isTrusted) };
  });
  const kept = new Set(insertions.map(({ cell }) => cell.id));
  for (const index of removals) {
    if (!kept.has(cells[index].id)) {
      // The kernel is told at the next run.
      model.deletedCells.push(cells[index].id);
    }
  }
  shared.transact(() => {
    // The list of cells is brought up to date after the transaction, so that
    // nothing in here may look at it.
    for (const index of removals) {
      shared.deleteCell(index);
    }
    for (const { index, cell } of added) {
      shared.insertCell(index, cell);
    }
  });
}

function newCell(cell: ICellState, isTrusted: boolean): NewCell {
  const { attachments, outputs, execution_count, ...common } = cell;
  return cell.cell_type === 'code'
    ? {
        ...common,
        metadata: { ...cell.metadata, ...(isTrusted && { trusted: true }) },
        outputs,
        execution_count
      }
    : { ...common, ...(attachments && { attachments }) };
}

/** What JupyterLab does not undo either. */
function setFields(cell: CellModel, edit: ICellEdit): void {
  const shared = cell.sharedModel;
  const fields = shared as unknown as ISharedFields;
  for (const [key, value] of Object.entries(edit.metadata ?? {})) {
    if (value === undefined) {
      shared.deleteMetadata(key);
    } else {
      shared.setMetadata(key, value);
    }
  }
  if (edit.attachments !== undefined) {
    fields.setAttachments(edit.attachments ?? undefined);
  }
  if (edit.outputs) {
    if (edit.outputs.length) {
      // They did not come from the user's kernel and could run scripts.
      cell.trusted = false;
      shared.deleteMetadata('trusted');
    }
    fields.setOutputs(edit.outputs);
  }
  if (edit.execution_count !== undefined) {
    fields.execution_count = edit.execution_count;
  }
}
