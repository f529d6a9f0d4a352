// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { INotebookModel } from '@jupyterlab/notebook';
import type { Contents, Kernel, KernelSpec } from '@jupyterlab/services';
import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';
import type { Widget } from '@lumino/widgets';

import type { DocumentKind, IWorkspaceDocument } from '../protocol';
import { fileLanguage, languageId } from './language';
import { DocumentView } from './view';

/** What a context holds, or null if it is not text: an image, a PDF. */
export function kindOf(context: DocumentRegistry.Context): DocumentKind | null {
  const model = context.contentsModel;
  if (model?.type === 'notebook') {
    return 'notebook';
  }
  return model?.type === 'file' && model.format !== 'base64' ? 'file' : null;
}

/**
 * One open document, however many tabs show it: tells when something about
 * it changed, and what it looks like now when asked.
 */
export class TrackedDocument implements IDisposable {
  constructor(private readonly _options: TrackedDocument.IOptions) {
    const { context, kind } = _options;
    const { model, sessionContext } = context;
    this._path = this._localPath();
    context.pathChanged.connect(this._onPath, this);
    context.fileChanged.connect(this._onChange, this);
    context.disposed.connect(this.dispose, this);
    model.contentChanged.connect(this._onChange, this);
    model.stateChanged.connect(this._onChange, this);
    if (kind === 'notebook') {
      sessionContext.kernelChanged.connect(this._onKernel, this);
      sessionContext.statusChanged.connect(this._onChange, this);
      this._onKernel();
    } else {
      (model as Partial<DocumentRegistry.ICodeModel>).mimeTypeChanged?.connect(
        this._onType,
        this
      );
    }
  }

  get path(): string {
    return this._path;
  }

  get lastFocused(): string | undefined {
    return this._lastFocused;
  }

  /** Emitted when the document would be described in other words. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Emitted with the path that it had before. */
  get moved(): ISignal<this, string> {
    return this._moved;
  }

  get disposed(): ISignal<this, void> {
    return this._disposed;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  addView(widget: Widget): void {
    const view = new DocumentView(widget);
    this._views.push(view);
    view.changed.connect(this._onChange, this);
    view.disposed.connect(this._onViewDisposed, this);
    this._onChange();
  }

  /** The user turned to the document, in this of its tabs. */
  focus(widget: Widget | null): void {
    this._current =
      this._views.find(view => view.widget === widget) ?? this._current;
    this._lastFocused = new Date().toISOString();
    this._onChange();
  }

  describe(): IWorkspaceDocument {
    const { context, kind } = this._options;
    const { model, sessionContext } = context;
    const kernel =
      kind === 'notebook' ? sessionContext.session?.kernel : undefined;
    return {
      path: this._path,
      languageId:
        kind === 'notebook' ? this._notebookLanguage() : this._fileLanguage(),
      kind,
      dirty: model.dirty,
      fileHash: context.contentsModel?.hash ?? undefined,
      ...this._view()?.describe(),
      kernel: kernel ? { name: kernel.name, state: kernel.status } : undefined,
      lastFocused: this._lastFocused
    };
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    for (const view of this._views) {
      view.dispose();
    }
    this._disposed.emit();
    Signal.clearData(this);
  }

  /** The tab whose cursor counts: a preview next to an editor has none. */
  private _view(): DocumentView | undefined {
    return this._current?.hasEditor
      ? this._current
      : this._views.find(view => view.hasEditor);
  }

  private _fileLanguage(): string {
    const { context, languages } = this._options;
    const { mimeType } = context.model as Partial<DocumentRegistry.ICodeModel>;
    this._language ??= fileLanguage(languages, this._path, mimeType);
    return this._language;
  }

  private _notebookLanguage(): string {
    const { context, specs } = this._options;
    const model = context.model as INotebookModel;
    const specLanguage = (name?: string) =>
      name ? specs()?.kernelspecs[name]?.language : undefined;
    const { language_info: info, kernelspec } = model.metadata;
    return languageId(
      this._language ??
        // The notebook still names its last kernel when this one is new.
        specLanguage(this._kernel?.name) ??
        info?.name ??
        (kernelspec?.language as string | undefined) ??
        specLanguage(kernelspec?.name)
    );
  }

  private _onPath(): void {
    const old = this._path;
    this._path = this._localPath();
    if (this._options.kind === 'file') {
      this._language = null;
    }
    this._moved.emit(old);
  }

  private _onType(): void {
    this._language = null;
    this._onChange();
  }

  private _onKernel(): void {
    const kernel = this._options.context.sessionContext.session?.kernel ?? null;
    this._kernel = kernel;
    this._language = null;
    kernel?.info.then(
      info => {
        if (!this._isDisposed && this._kernel === kernel) {
          this._language = info.language_info?.name ?? null;
          this._onChange();
        }
      },
      () => {
        // It died before it told; what the notebook says has to do.
      }
    );
    this._onChange();
  }

  private _onViewDisposed(view: DocumentView): void {
    this._views = this._views.filter(other => other !== view);
    if (this._current === view) {
      this._current = null;
    }
    if (this._views.length === 0) {
      this.dispose();
    } else {
      this._onChange();
    }
  }

  private _onChange(): void {
    this._changed.emit();
  }

  private _localPath(): string {
    const { contents, context } = this._options;
    return contents.localPath(context.path);
  }

  private _path: string;
  private _lastFocused: string | undefined;
  /** As the registry or the running kernel has it; null if not known. */
  private _language: string | null = null;
  private _kernel: Kernel.IKernelConnection | null = null;
  private _current: DocumentView | null = null;
  private _isDisposed = false;
  private _views: DocumentView[] = [];
  private readonly _changed = new Signal<this, void>(this);
  private readonly _moved = new Signal<this, string>(this);
  private readonly _disposed = new Signal<this, void>(this);
}

export namespace TrackedDocument {
  export interface IOptions {
    context: DocumentRegistry.Context;
    kind: DocumentKind;
    contents: Contents.IManager;
    languages: IEditorLanguageRegistry;
    /** The kernelspecs that the server has, once they are known. */
    specs: () => KernelSpec.ISpecModels | null;
  }
}
