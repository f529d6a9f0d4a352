// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IDocumentManager } from '@jupyterlab/docmanager';
import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { INotebookModel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';

import type { IIncomingRequest } from '../api/connection';
import { RpcError } from '../connection/rpc';
import {
  type INotebookState,
  InvalidNotebookError,
  parseNotebook,
  withPlainLineEnds
} from '../diff/notebook';
import {
  type DocumentFormat,
  ErrorCode,
  type IDocumentContent,
  type IDocumentWriteParams,
  type IDocumentWritten,
  Method
} from '../protocol';
import {
  type ISharedText,
  applyPlan,
  applyText,
  isRunning,
  notebookContent,
  notebookState
} from './apply';
import { adoptFile, save } from './file';
import { planChange } from './notebookchange';
import { type DocumentState, Versions } from './versions';

interface IOpenDocument {
  context: DocumentRegistry.Context;
  format: DocumentFormat;
}

/** Reads and changes, for the server, documents that are open here. */
export class DocumentAccess {
  constructor(private readonly _options: DocumentAccess.IOptions) {}

  /** Answer one of the `_jupyter/document/` requests. */
  async answer(request: IIncomingRequest): Promise<void> {
    try {
      request.respond(await this._serve(request.method, request.params));
    } catch (error) {
      const code =
        error instanceof RpcError
          ? error.code
          : error instanceof InvalidNotebookError
            ? ErrorCode.invalidParams
            : ErrorCode.internal;
      request.fail(code, wordsOf(error));
    }
  }

  private async _serve(method: string, params: unknown): Promise<unknown> {
    switch (method) {
      case Method.documentRead:
        return this._read(this._find(this._path(params)));
      case Method.documentSave: {
        const open = this._find(this._path(params));
        await this._inTurn(open, () => this._save(open));
        return {};
      }
      default: {
        const checked = this._writeParams(params);
        const open = this._find(checked.path, checked.format);
        return this._inTurn(open, () => this._write(open, checked));
      }
    }
  }

  private _read(open: IOpenDocument): IDocumentContent {
    const { context, format } = open;
    const state = this._state(open);
    return {
      format,
      content:
        typeof state === 'string'
          ? state
          : notebookContent(asNotebook(context).sharedModel),
      version: this._versions(context).nameOf(state),
      dirty: context.model.dirty,
      collaborative: context.model.collaborative ?? false,
      fileHash: context.contentsModel?.hash ?? undefined
    };
  }

  private async _write(
    open: IOpenDocument,
    params: IDocumentWriteParams
  ): Promise<IDocumentWritten> {
    const { trans, manager } = this._options;
    const { context } = open;
    if (context.isDisposed) {
      throw this._notOpen(params.path);
    }
    if (context.model.readOnly || context.contentsModel?.writable === false) {
      throw new RpcError(
        trans.__('%1 is read-only; nothing was changed.', context.path),
        ErrorCode.internal
      );
    }
    const versions = this._versions(context);
    const read = versions.get(params.version);
    const now = this._state(open);
    const written = read === undefined ? null : change(open, read, now, params);
    if (written === null) {
      return { conflict: true, version: versions.nameOf(now) };
    }
    // Named is what was sent, not what the document became of it: whoever
    // sent it goes on from there, and must not undo what the user has done.
    const version = versions.nameOf(written);
    try {
      if (params.onDisk) {
        const { contents } = manager.services;
        await adoptFile(context, contents, params.onDisk);
      }
      if (params.save) {
        await this._save(open);
      }
    } catch (error) {
      throw new RpcError(
        trans.__(
          '%1 was changed where it is open, but its file was not: %2',
          context.path,
          wordsOf(error)
        ),
        ErrorCode.internal
      );
    }
    return { version };
  }

  private async _save({ context }: IOpenDocument): Promise<void> {
    const { trans, manager } = this._options;
    if (!(await save(context, manager.services.contents))) {
      throw new Error(
        trans.__(
          'The file has been changed on disk since it was opened or saved here.'
        )
      );
    }
  }

  /** Find what is open under a path; a notebook first, if it is one, too. */
  private _find(path: string, format?: DocumentFormat): IOpenDocument {
    const { manager } = this._options;
    const found: IOpenDocument[] = [];
    if (manager.services.contents.driveName(path) === '') {
      for (const { name, modelName } of manager.registry.widgetFactories()) {
        const widget = manager.findWidget(path, name);
        const context = widget && manager.contextForWidget(widget);
        const factory = manager.registry.getModelFactory(modelName ?? 'text');
        if (context?.isReady && factory) {
          const format = formatOf(context, factory);
          if (format) {
            found.push({ context, format });
          }
        }
      }
    }
    const open =
      found.find(each => each.format === (format ?? 'notebook')) ??
      (format ? undefined : found[0]);
    if (!open) {
      throw this._notOpen(path);
    }
    return open;
  }

  private _notOpen(path: string): RpcError {
    return new RpcError(
      this._options.trans.__('%1 is not open in this window.', path),
      ErrorCode.resourceNotFound
    );
  }

  private _state({ context, format }: IOpenDocument): DocumentState {
    return format === 'text'
      ? asText(context).getSource()
      : notebookState(asNotebook(context).sharedModel);
  }

  private _versions(context: DocumentRegistry.Context): Versions {
    let versions = this._kept.get(context);
    if (!versions) {
      versions = new Versions();
      this._kept.set(context, versions);
    }
    return versions;
  }

  /** One change of a document after the other, each with its saving. */
  private async _inTurn<T>(
    { context }: IOpenDocument,
    task: () => Promise<T>
  ): Promise<T> {
    const turn = (this._turns.get(context) ?? Promise.resolve()).then(task);
    this._turns.set(
      context,
      turn.catch(() => undefined)
    );
    return turn;
  }

  private _path(params: unknown): string {
    const { path } = (params ?? {}) as { path?: unknown };
    if (typeof path !== 'string' || !path) {
      throw this._invalid('path');
    }
    return path;
  }

  private _writeParams(params: unknown): IDocumentWriteParams {
    const path = this._path(params);
    const given = params as Partial<
      Record<keyof IDocumentWriteParams, unknown>
    >;
    const { format, content, version, save, onDisk } = given;
    if (format !== 'text' && format !== 'notebook') {
      throw this._invalid('format');
    }
    if ((format === 'text') !== (typeof content === 'string')) {
      throw this._invalid('content');
    }
    if (typeof version !== 'string') {
      throw this._invalid('version');
    }
    if (save !== undefined && typeof save !== 'boolean') {
      throw this._invalid('save');
    }
    if (onDisk !== undefined && !isMergedFile(onDisk)) {
      throw this._invalid('onDisk');
    }
    return {
      path,
      format,
      content,
      version,
      save,
      onDisk
    };
  }

  private _invalid(name: string): RpcError {
    return new RpcError(
      this._options.trans.__('The parameter "%1" is missing or wrong.', name),
      ErrorCode.invalidParams
    );
  }

  // Both are forgotten with the document.
  private readonly _kept = new WeakMap<DocumentRegistry.Context, Versions>();
  private readonly _turns = new WeakMap<
    DocumentRegistry.Context,
    Promise<unknown>
  >();
}

export namespace DocumentAccess {
  export interface IOptions {
    manager: IDocumentManager;
    trans: TranslationBundle;
  }
}

function isMergedFile(
  value: unknown
): value is NonNullable<IDocumentWriteParams['onDisk']> {
  const { dirty, hash } = (value ?? {}) as Record<string, unknown>;
  return typeof dirty === 'boolean' && typeof hash === 'string';
}

/** Collaborative documents reject with a mere string. */
function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Make the change, all at once; returns what was wanted, null if it cannot. */
function change(
  { context, format }: IOpenDocument,
  read: DocumentState,
  now: DocumentState,
  { content }: IDocumentWriteParams
): DocumentState | null {
  if (format === 'text') {
    const wanted = withPlainLineEnds(content as string);
    if (now === wanted) {
      return wanted;
    }
    if (now !== read) {
      return null;
    }
    applyText(asText(context), wanted);
    return wanted;
  }
  const model = asNotebook(context);
  const plan = planChange(
    read as INotebookState,
    parseNotebook(content),
    now as INotebookState,
    index => isRunning(model.sharedModel, index)
  );
  if (!plan) {
    return null;
  }
  applyPlan(model, plan);
  return plan.wanted;
}

function formatOf(
  context: DocumentRegistry.Context,
  factory: DocumentRegistry.ModelFactory
): DocumentFormat | null {
  if (factory.contentType === 'notebook') {
    return 'notebook';
  }
  // Models of other kinds keep something else than text in their text files.
  const isText = typeof asText(context).updateSource === 'function';
  return factory.fileFormat === 'text' && isText ? 'text' : null;
}

function asText(context: DocumentRegistry.Context): ISharedText {
  return context.model.sharedModel as unknown as ISharedText;
}

function asNotebook(context: DocumentRegistry.Context): INotebookModel {
  return context.model as INotebookModel;
}
