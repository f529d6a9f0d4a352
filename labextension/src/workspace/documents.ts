// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import type { IDocumentManager } from '@jupyterlab/docmanager';
import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { Contents, KernelSpec } from '@jupyterlab/services';
import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';
import type { Widget } from '@lumino/widgets';

import type { IWorkspaceDocument } from '../protocol';
import { TrackedDocument, kindOf } from './document';

/** Users may have documents moved to any of these by JupyterLab's settings. */
const AREAS = ['main', 'down', 'left', 'right'];

/**
 * The notebooks and text files that the window's tabs show, by path. Only
 * files of the server's own drive: the others are no files to an agent.
 */
export class OpenDocuments implements IDisposable {
  constructor(private readonly _options: OpenDocuments.IOptions) {
    const { shell, layoutModified, kernelspecs } = _options;
    shell.currentChanged?.connect(this._onCurrent, this);
    layoutModified?.connect(this._scan, this);
    kernelspecs.specsChanged.connect(this._onSpecs, this);
    this._onCurrent();
  }

  get active(): string | null {
    return this._current?.path ?? null;
  }

  get documents(): readonly string[] {
    return [...this._byPath.keys()];
  }

  /** Emitted when a document was opened, closed or renamed, or the user turned to another. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Emitted with a path about which something may have changed. */
  get stale(): ISignal<this, string> {
    return this._stale;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** What is open at a path, if anything is. */
  describe(path: string): IWorkspaceDocument | null {
    // The same file may be open as a notebook and as text: the one used last.
    const [first, ...others] = this._byPath.get(path) ?? [];
    const latest = others.reduce(
      (best, next) =>
        (next.lastFocused ?? '') > (best.lastFocused ?? '') ? next : best,
      first
    );
    return latest?.describe() ?? null;
  }

  /** The user came back to the window, and so to its active document. */
  focus(): void {
    this._current?.focus(this._options.shell.currentWidget);
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    Signal.clearData(this);
    for (const document of this._byContext.values()) {
      document.dispose();
    }
    this._byContext.clear();
    this._byPath.clear();
  }

  private _scan(): void {
    for (const area of AREAS) {
      for (const widget of this._widgets(area)) {
        if (!this._seen.has(widget)) {
          this._seen.add(widget);
          void this._adopt(widget);
        }
      }
    }
  }

  private _widgets(area: string): Iterable<Widget> {
    try {
      return this._options.shell.widgets(area);
    } catch {
      // Not every shell has every area.
      return [];
    }
  }

  private async _adopt(widget: Widget): Promise<void> {
    const context = this._contextOf(widget);
    if (!context) {
      return;
    }
    if (!context.isReady) {
      try {
        await context.ready;
      } catch {
        return;
      }
    }
    if (this._isDisposed || context.isDisposed || widget.isDisposed) {
      return;
    }
    const document = this._byContext.get(context) ?? this._create(context);
    document?.addView(widget);
    if (widget === this._options.shell.currentWidget) {
      this._onCurrent();
    }
  }

  private _contextOf(widget: Widget): DocumentRegistry.Context | null {
    const { contents, manager } = this._options;
    const context = manager.contextForWidget(widget);
    return context && contents.driveName(context.path) === '' ? context : null;
  }

  private _create(context: DocumentRegistry.Context): TrackedDocument | null {
    const { contents, languages, kernelspecs } = this._options;
    const kind = kindOf(context);
    if (!kind) {
      return null;
    }
    const document = new TrackedDocument({
      context,
      kind,
      contents,
      languages,
      specs: () => kernelspecs.specs
    });
    document.changed.connect(this._onDocument, this);
    document.moved.connect(this._onMoved, this);
    document.disposed.connect(this._onDisposed, this);
    this._contexts.set(document, context);
    this._byContext.set(context, document);
    this._index(document);
    this._changed.emit();
    return document;
  }

  private _onCurrent(): void {
    // A tab becomes current before the shell tells that its layout changed.
    this._scan();
    const widget = this._options.shell.currentWidget;
    const context = widget && this._contextOf(widget);
    if (context && !context.isReady) {
      // Not a moment without a document: this one takes over when it is there.
      return;
    }
    const current = (context && this._byContext.get(context)) ?? null;
    const previous = this._current;
    this._current = current;
    current?.focus(widget);
    if (current !== previous) {
      this._changed.emit();
    }
  }

  private _onDocument(document: TrackedDocument): void {
    this._stale.emit(document.path);
  }

  private _onMoved(document: TrackedDocument, old: string): void {
    this._unindex(document, old);
    this._index(document);
    this._changed.emit();
  }

  private _onDisposed(document: TrackedDocument): void {
    const context = this._contexts.get(document);
    if (context) {
      this._byContext.delete(context);
    }
    this._unindex(document, document.path);
    if (this._current === document) {
      this._current = null;
    }
    this._changed.emit();
  }

  private _onSpecs(): void {
    for (const path of this._byPath.keys()) {
      this._stale.emit(path);
    }
  }

  private _index(document: TrackedDocument): void {
    const { path } = document;
    this._byPath.set(path, [...(this._byPath.get(path) ?? []), document]);
    this._stale.emit(path);
  }

  private _unindex(document: TrackedDocument, path: string): void {
    const left = this._byPath.get(path)?.filter(other => other !== document);
    if (left?.length) {
      this._byPath.set(path, left);
    } else {
      this._byPath.delete(path);
    }
    this._stale.emit(path);
  }

  private _current: TrackedDocument | null = null;
  private _isDisposed = false;
  private readonly _seen = new WeakSet<Widget>();
  private readonly _contexts = new WeakMap<
    TrackedDocument,
    DocumentRegistry.Context
  >();
  private readonly _byContext = new Map<
    DocumentRegistry.Context,
    TrackedDocument
  >();
  private readonly _byPath = new Map<string, TrackedDocument[]>();
  private readonly _changed = new Signal<this, void>(this);
  private readonly _stale = new Signal<this, string>(this);
}

export namespace OpenDocuments {
  export interface IOptions {
    shell: JupyterFrontEnd.IShell;
    /** Tells that tabs were added without becoming current. */
    layoutModified?: ISignal<unknown, void>;
    manager: Pick<IDocumentManager, 'contextForWidget'>;
    contents: Contents.IManager;
    languages: IEditorLanguageRegistry;
    kernelspecs: KernelSpec.IManager;
  }
}
