// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { CodeEditor } from '@jupyterlab/codeeditor';
import type { Notebook } from '@jupyterlab/notebook';
import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';
import type { Widget } from '@lumino/widgets';

import type { IWorkspaceDocument, VisibleRange } from '../protocol';
import { cursorOf, selectionOf, viewOf, visibleLines } from './editor';

/** What only the widget knows that shows a document. */
export type ViewState = Pick<
  IWorkspaceDocument,
  'cursor' | 'selection' | 'visibleRange' | 'cell'
>;

/**
 * Watches one widget that shows a document: an editor, a notebook, or
 * something with neither, such as a preview.
 */
export class DocumentView implements IDisposable {
  constructor(readonly widget: Widget) {
    const { content } = widget as Partial<IShown>;
    widget.disposed.connect(this.dispose, this);
    widget.node.addEventListener('scroll', this._onLayout, LISTEN);
    // Sees a tab shown, hidden or resized, and a notebook's outputs arrive.
    this._resizes.observe(widget.node);
    if (isNotebook(content)) {
      this._notebook = content;
      this._resizes.observe(content.viewportNode);
      content.activeCellChanged.connect(this._onActiveCell, this);
      this._onActiveCell(content, content.activeCell);
    } else if (content?.editor) {
      this._editor = content.editor;
      this._editor.model.selections.changed.connect(this._onChange, this);
    }
  }

  /** Emitted when the cursor, the selection or the visible part changed. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get disposed(): ISignal<this, void> {
    return this._disposed;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** Whether the user can have a cursor in it. */
  get hasEditor(): boolean {
    return this._notebook !== null || this._editor !== null;
  }

  describe(): ViewState {
    return this._notebook
      ? this._describeNotebook(this._notebook)
      : this._describeEditor(this._editor);
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    this._resizes.disconnect();
    this.widget.node.removeEventListener('scroll', this._onLayout, LISTEN);
    this._disposed.emit();
    Signal.clearData(this);
  }

  private _describeEditor(editor: CodeEditor.IEditor | null): ViewState {
    const view = viewOf(editor);
    return view
      ? {
          cursor: cursorOf(view),
          selection: selectionOf(view),
          visibleRange: this.widget.isVisible
            ? visibleLines(view, this.widget.node)
            : undefined
        }
      : {};
  }

  private _describeNotebook(notebook: Notebook): ViewState {
    const cell = notebook.activeCell;
    const view = viewOf(cell?.editor);
    return {
      cursor: view ? cursorOf(view) : undefined,
      selection: view ? selectionOf(view) : undefined,
      visibleRange: this.widget.isVisible ? visibleCells(notebook) : undefined,
      cell: cell
        ? {
            id: cell.model.id,
            index: notebook.activeCellIndex,
            type: cell.model.type
          }
        : undefined
    };
  }

  private _onActiveCell(_: Notebook, cell: Notebook['activeCell']): void {
    this._cell?.selections.changed.disconnect(this._onChange, this);
    this._cell = cell?.model ?? null;
    this._cell?.selections.changed.connect(this._onChange, this);
    this._onChange();
  }

  private _onChange(): void {
    this._changed.emit();
  }

  private readonly _onLayout = (): void => this._onChange();

  private _isDisposed = false;
  private _cell: CodeEditor.IModel | null = null;
  private _notebook: Notebook | null = null;
  private _editor: CodeEditor.IEditor | null = null;
  private readonly _resizes = new ResizeObserver(this._onLayout);
  private readonly _changed = new Signal<this, void>(this);
  private readonly _disposed = new Signal<this, void>(this);
}

const LISTEN = { capture: true, passive: true };

interface IShown {
  content: Notebook | (Widget & { editor?: CodeEditor.IEditor });
}

function isNotebook(
  content: IShown['content'] | undefined
): content is Notebook {
  return content !== undefined && 'activeCellChanged' in content;
}

function visibleCells(notebook: Notebook): VisibleRange | undefined {
  const frame = notebook.outerNode.getBoundingClientRect();
  let first = -1;
  let last = -1;
  for (const [index, { node }] of notebook.widgets.entries()) {
    // Cells that are far away have no place in the page.
    const { top, bottom, height } = node.getBoundingClientRect();
    if (height > 0 && bottom > frame.top && top < frame.bottom) {
      first = first < 0 ? index : first;
      last = index;
    } else if (height > 0 && top >= frame.bottom) {
      break;
    }
  }
  return first < 0
    ? undefined
    : { start: { cell: first }, end: { cell: last } };
}
