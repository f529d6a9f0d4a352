// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IDocumentManager } from '@jupyterlab/docmanager';
import { PathExt } from '@jupyterlab/coreutils';
import type { INotebookModel } from '@jupyterlab/notebook';
import type { Contents } from '@jupyterlab/services';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { ISignal } from '@lumino/signaling';

import type { Attachment } from '../api/attachment';
import type { IContextOffer, ISuggestion } from '../api/prompt';
import type { IWorkspaceTracker } from '../api/workspace';
import type { AcpApi } from '../connection/rest';
import { fenced } from '../ui/fence';
import { type ICellText, cellText, cellTexts, cut, notebookOf } from './cells';

/** How many of each kind are offered for a few letters. */
const MAX_SUGGESTIONS = 8;

/** How many code cells before one that failed may have to do with it. */
const MAX_CODE_BEFORE = 3;

/** How much is sent of a cell that failed, and of each of those around it. */
const MAX_FAILED_CHARS = 16_000;
const MAX_AROUND_CHARS = 4000;

/** What a prompt can refer to: where the user is, and what else there is. */
export class PromptContext {
  constructor(private readonly _options: PromptContext.IOptions) {
    _options.tracker.changed.connect(this._onChanged, this);
  }

  get changed(): ISignal<IWorkspaceTracker, void> {
    return this._options.tracker.viewChanged;
  }

  /** What the server tells the agent with the next message, in words. */
  offer(): IContextOffer | null {
    const { tracker, trans } = this._options;
    const { told } = tracker;
    const place = told.place ? this._place() : null;
    if (place) {
      return {
        label: place,
        title: told.documents
          ? trans.__(
              'The editor context (cursor, open documents) is sent with the message.'
            )
          : trans.__('The editor context (cursor) is sent with the message.')
      };
    }
    return told.documents && tracker.documents.length > 0
      ? {
          label: trans.__('Open documents'),
          title: trans.__(
            'The editor context (open documents) is sent with the message.'
          )
        }
      : null;
  }

  /** The cells of the active notebook, and their outputs, that fit some letters. */
  cells(query: string): ISuggestion[] {
    return this._cells(fitting(query)).slice(0, MAX_SUGGESTIONS);
  }

  /** The open documents that fit some letters. */
  documents(query: string): ISuggestion[] {
    return this._options.tracker.documents
      .filter(fitting(query))
      .slice(0, MAX_SUGGESTIONS)
      .map(path => this._mention(path, true));
  }

  /** The other files that fit some letters. */
  async files(query: string): Promise<ISuggestion[]> {
    const { api, tracker } = this._options;
    const found = await api.files(query, MAX_SUGGESTIONS);
    return found
      .filter(path => !tracker.documents.includes(path))
      .map(path => this._mention(path, false));
  }

  /** A file, by its contents path. */
  file(path: string): Attachment {
    return { type: 'file', name: PathExt.basename(path), uri: this._uri(path) };
  }

  /** A cell with what it printed; null if it is not open. */
  cell(path: string, id: string): Attachment | null {
    const cells = [...(this._model(path)?.cells ?? [])];
    const at = cells.findIndex(cell => cell.id === id);
    return at >= 0 ? this._cell(path, cellText(cells[at], at)) : null;
  }

  /** A cell that failed, what it printed, what went wrong, what is around. */
  failure(path: string, id: string): Attachment[] {
    const cells = this._texts(path);
    const failed = cells.findIndex(cell => cell.id === id);
    return around(cells, failed).map(cell =>
      cell.id === id
        ? this._cell(
            path,
            { ...cell, source: cut(cell.source, MAX_FAILED_CHARS) },
            'The cell that fails:'
          )
        : this._cell(path, {
            ...cell,
            source: cut(cell.source, MAX_AROUND_CHARS),
            printed: cut(cell.printed, MAX_AROUND_CHARS),
            error: cut(cell.error, MAX_AROUND_CHARS)
          })
    );
  }

  /** Where the user is. */
  private _place(): string | null {
    const { tracker, trans } = this._options;
    // A chat in the main area is no document; the last one is still meant.
    const path = tracker.active ?? this._last;
    const document = path && tracker.describe(path);
    if (!document) {
      return null;
    }
    const name = PathExt.basename(document.path);
    const { selection, cell } = document;
    if (selection) {
      const lines = selection.end.line - selection.start.line + 1;
      return trans.__('%1: %2', name, linesWords(lines, trans));
    }
    return cell ? trans.__('%1: cell %2', name, cell.index + 1) : name;
  }

  private _onChanged(tracker: IWorkspaceTracker): void {
    this._last = tracker.active ?? this._last;
  }

  private _cells(fits: (text: string) => boolean): ISuggestion[] {
    const { tracker, trans } = this._options;
    const path = tracker.active ?? this._last;
    if (!path) {
      return [];
    }
    return this._texts(path).flatMap(cell => {
      // One word each: a mention ends with the next space.
      const name = trans.__('cell-%1', cell.number);
      const firstLine = cell.source.trim().split('\n', 1)[0];
      const output = trans.__('output-%1', cell.number);
      const mentions: ISuggestion[] = [];
      if (fits(name) || fits(firstLine)) {
        mentions.push({
          name,
          detail: firstLine,
          attachment: this._cell(path, cell)
        });
      }
      if (cell.output && fits(output)) {
        mentions.push({
          name: output,
          detail: cell.output.trim().split('\n', 1)[0],
          attachment: this._output(path, cell)
        });
      }
      return mentions;
    });
  }

  private _mention(path: string, isOpen: boolean): ISuggestion {
    const { trans } = this._options;
    const folder = PathExt.dirname(path);
    return {
      name: PathExt.basename(path),
      detail: [folder, isOpen ? trans.__('open') : '']
        .filter(Boolean)
        .join(' · '),
      attachment: this.file(path)
    };
  }

  private _cell(path: string, cell: ICellText, heading?: string): Attachment {
    const { trans } = this._options;
    const name = trans.__('%1: cell %2', PathExt.basename(path), cell.number);
    const parts = heading ? [heading] : [];
    parts.push(fenced(cell.source, cell.type === 'code' ? '' : cell.type));
    if (cell.printed) {
      parts.push(`Output:\n${fenced(cell.printed)}`);
    }
    if (cell.error) {
      parts.push(`Error:\n${fenced(cell.error)}`);
    }
    return {
      type: 'text',
      name,
      uri: `${this._uri(path)}#cell=${cell.id}`,
      text: parts.join('\n\n'),
      mimeType: 'text/markdown'
    };
  }

  private _output(path: string, cell: ICellText): Attachment {
    const { trans } = this._options;
    return {
      type: 'text',
      name: trans.__('%1: output %2', PathExt.basename(path), cell.number),
      uri: `${this._uri(path)}#output=${cell.id}`,
      text: cell.output
    };
  }

  private _texts(path: string): ICellText[] {
    const model = this._model(path);
    return model ? cellTexts(model) : [];
  }

  private _model(path: string): INotebookModel | null {
    const widget = this._options.manager.findWidget(path, 'Notebook');
    return notebookOf(widget)?.model ?? null;
  }

  private _uri(path: string): string {
    const { contents, rootDir } = this._options;
    const absolute = `${rootDir() ?? ''}/${contents.localPath(path)}`;
    return `file://${absolute.split('/').map(uriPart).join('/')}`;
  }

  /** The document that the user was in last. */
  private _last: string | null = null;
}

export namespace PromptContext {
  export interface IOptions {
    tracker: IWorkspaceTracker;
    manager: IDocumentManager;
    contents: Contents.IManager;
    api: AcpApi;
    /** The folder that contents paths begin at, once the server has told. */
    rootDir: () => string | undefined;
    trans: TranslationBundle;
  }
}

/** Whether a text has some letters in it, in any case. */
function fitting(query: string): (text: string) => boolean {
  const wanted = query.toLowerCase();
  return text => text.toLowerCase().includes(wanted);
}

/** A name in a path, as the server writes it: agents compare the two. */
function uriPart(name: string): string {
  return encodeURIComponent(name).replace(
    /%(24|26|2B|2C|3A|3B|3D|40)/g,
    decodeURIComponent
  );
}

function linesWords(count: number, trans: TranslationBundle): string {
  return trans._n('%1 line', '%1 lines', count);
}

/**
 * A cell and those that may have to do with it, in their order: the nearest
 * code and the nearest words before it, and what comes next.
 */
function around(cells: readonly ICellText[], index: number): ICellText[] {
  if (index < 0) {
    return [];
  }
  const said = (cell: ICellText): boolean => cell.source.trim() !== '';
  const before = cells.slice(0, index).filter(said);
  const code = before.filter(({ type }) => type === 'code');
  const words = before.filter(({ type }) => type === 'markdown');
  const near = new Set([
    ...code.slice(-MAX_CODE_BEFORE),
    ...words.slice(-1),
    cells[index],
    ...cells
      .slice(index + 1)
      .filter(said)
      .slice(0, 1)
  ]);
  return cells.filter(cell => near.has(cell));
}
