// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { ISessionContext } from '@jupyterlab/apputils';
import type { IDocumentManager } from '@jupyterlab/docmanager';
import type {
  INotebookCellExecutor,
  NotebookPanel
} from '@jupyterlab/notebook';
import type { ITranslator, TranslationBundle } from '@jupyterlab/translation';

import type { IIncomingRequest } from '../api/connection';
import { RpcError } from '../connection/rpc';
import { ErrorCode, type INotebookRun, Method } from '../protocol';

type Cell = NotebookPanel['content']['widgets'][number];

/** What the models of code cells have besides. */
interface ICodeModel {
  executionCount: number | null;
  outputs: { toJSON(): { output_type: string }[] };
}

interface IRunParams {
  path: string;
  cellId: string | null;
  source: string | null;
}

/**
 * Runs cells of open notebooks and restarts their kernels for agents, as the
 * user would. Nobody may be there to answer a dialog: whatever would open one
 * is refused instead.
 */
export class NotebookRunner {
  constructor(private readonly _options: NotebookRunner.IOptions) {}

  /** Answer one of the `_jupyter/notebook/` requests, when it is done. */
  async answer(request: IIncomingRequest): Promise<void> {
    try {
      const checked = this._check(request.params);
      request.respond(
        request.method === Method.notebookRestart
          ? await this._restart(checked.path)
          : await this._serve(checked)
      );
    } catch (error) {
      const code = error instanceof RpcError ? error.code : ErrorCode.internal;
      request.fail(
        code,
        error instanceof Error ? error.message : String(error)
      );
    }
  }

  private async _serve(params: IRunParams): Promise<INotebookRun> {
    const panel = this._find(params.path);
    const { sessionContext } = panel.context;
    // It is ready only once the user has chosen, if there is a choice to make.
    await sessionContext.initialize();
    await this._startKernel(panel);
    if (params.cellId === null) {
      return { status: 'ok', executionCount: null, outputs: [] };
    }
    const cell = this._cell(panel, params.cellId, params.source);
    if (sessionContext.isTerminating || sessionContext.pendingInput) {
      throw this._refused(
        this._options.trans.__(
          'The kernel of %1 is ending or waits for input from the user; nothing was run.',
          params.path
        )
      );
    }
    return this._run(panel, cell, sessionContext);
  }

  private async _restart(path: string): Promise<object> {
    const { trans } = this._options;
    const { sessionContext } = this._find(path).context;
    if (!sessionContext.session?.kernel) {
      throw new RpcError(
        trans.__('No kernel runs for %1 in this window.', path),
        ErrorCode.resourceNotFound
      );
    }
    await sessionContext.restartKernel();
    // It keeps to itself that this has failed.
    if (!sessionContext.isReady) {
      throw this._refused(
        trans.__('The kernel of %1 could not be restarted.', path)
      );
    }
    await sessionContext.session?.kernel?.info;
    return {};
  }

  private async _run(
    panel: NotebookPanel,
    cell: Cell,
    sessionContext: ISessionContext
  ): Promise<INotebookRun> {
    const { executor, translator } = this._options;
    const model = cell.model as unknown as ICodeModel;
    let isDone = false;
    try {
      // Not by NotebookActions: they leave the edit mode and scroll, which is
      // right for who pressed the key and wrong for who types elsewhere.
      isDone = await executor.runCell({
        cell,
        notebook: panel.content.model!,
        notebookConfig: panel.content.notebookConfig,
        onCellExecuted: () => undefined,
        onCellExecutionScheduled: () => undefined,
        sessionContext,
        translator
      });
    } catch (error) {
      if (!String((error as Error)?.message).startsWith('KernelReplyNotOK')) {
        throw error;
      }
    }
    if (cell.isDisposed) {
      return { status: 'aborted', executionCount: null, outputs: [] };
    }
    const outputs = model.outputs.toJSON();
    const isFailed = outputs.some(each => each.output_type === 'error');
    return {
      status: isFailed ? 'error' : isDone ? 'ok' : 'aborted',
      executionCount: model.executionCount,
      outputs
    };
  }

  /** Start what the notebook asks for, if no kernel runs. */
  private async _startKernel({
    content,
    context
  }: NotebookPanel): Promise<void> {
    const { sessionContext } = context;
    const needsChoice =
      sessionContext.hasNoKernel && (await sessionContext.startKernel());
    if (needsChoice) {
      const specs = sessionContext.specsManager.specs;
      const wanted = content.model?.getMetadata('kernelspec') as
        { name?: string } | undefined;
      const name = wanted?.name ?? specs?.default;
      if (!name || !specs?.kernelspecs[name]) {
        throw this._refused(
          this._options.trans.__(
            'No kernel is installed for %1: the user has to choose one.',
            context.path
          )
        );
      }
      await sessionContext.changeKernel({ name });
    }
    await sessionContext.session?.kernel?.info;
  }

  private _cell(panel: NotebookPanel, id: string, source: string | null): Cell {
    const { trans } = this._options;
    const cell = panel.content.widgets.find(each => each.model.id === id);
    if (cell?.model.type !== 'code') {
      throw new RpcError(
        trans.__('There is no code cell %1 in %2.', id, panel.context.path),
        ErrorCode.invalidParams
      );
    }
    if (source !== null && cell.model.sharedModel.getSource() !== source) {
      throw new RpcError(
        trans.__('Cell %1 was changed; nothing was run.', id),
        ErrorCode.conflict
      );
    }
    return cell;
  }

  private _find(path: string): NotebookPanel {
    const { manager, trans } = this._options;
    for (const { name, modelName } of manager.registry.widgetFactories()) {
      const factory = manager.registry.getModelFactory(modelName ?? 'text');
      const panel =
        factory?.contentType === 'notebook' && manager.findWidget(path, name);
      // Other views of a notebook have no cells to run.
      if (panel && 'notebookConfig' in panel.content) {
        return panel as unknown as NotebookPanel;
      }
    }
    throw new RpcError(
      trans.__('%1 is not open in this window.', path),
      ErrorCode.resourceNotFound
    );
  }

  private _check(params: unknown): IRunParams {
    const { path, cellId, source } = (params ?? {}) as Record<string, unknown>;
    if (
      typeof path !== 'string' ||
      !isTextOrNull(cellId ?? null) ||
      !isTextOrNull(source ?? null)
    ) {
      throw new RpcError(
        this._options.trans.__('The parameters are missing or wrong.'),
        ErrorCode.invalidParams
      );
    }
    return {
      path,
      cellId: (cellId as string | undefined) ?? null,
      source: (source as string | undefined) ?? null
    };
  }

  private _refused(words: string): RpcError {
    return new RpcError(words, ErrorCode.internal);
  }
}

export namespace NotebookRunner {
  export interface IOptions {
    manager: IDocumentManager;
    executor: INotebookCellExecutor;
    trans: TranslationBundle;
    translator?: ITranslator;
  }
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === 'string';
}
