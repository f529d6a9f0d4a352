// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import {
  ILabShell,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { IDocumentManager, IRecentsManager } from '@jupyterlab/docmanager';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { type ISignal, Signal } from '@lumino/signaling';

import { IAcpConnection } from '../api/connection';
import { IWorkspaceTracker } from '../api/workspace';
import type { IWorkspaceDocument } from '../protocol';
import { tellServer } from './telling';

/** Stands in for the tracker, which is loaded when there is somebody to tell. */
class LazyTracker implements IWorkspaceTracker {
  get active(): string | null {
    return this._tracker?.active ?? null;
  }

  get documents(): readonly string[] {
    return this._tracker?.documents ?? [];
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get viewChanged(): ISignal<this, void> {
    return this._viewChanged;
  }

  get told(): IWorkspaceTracker.ITold {
    return this._tracker?.told ?? { place: false, documents: false };
  }

  describe(path: string): IWorkspaceDocument | null {
    return this._tracker?.describe(path) ?? null;
  }

  follow(tracker: IWorkspaceTracker): void {
    this._tracker = tracker;
    tracker.changed.connect(this._onChanged, this);
    tracker.viewChanged.connect(this._onViewChanged, this);
    this._onChanged();
    this._onViewChanged();
  }

  private _onViewChanged(): void {
    this._viewChanged.emit();
  }

  private _onChanged(): void {
    this._changed.emit();
  }

  private _tracker: IWorkspaceTracker | null = null;
  private readonly _changed = new Signal<this, void>(this);
  private readonly _viewChanged = new Signal<this, void>(this);
}

/** Tells the server what is open in this window, for agents that ask. */
export const workspace: JupyterFrontEndPlugin<IWorkspaceTracker> = {
  id: 'jupyter-acp-bridge:workspace',
  description: 'Lets agents see which documents are open and in use.',
  autoStart: true,
  provides: IWorkspaceTracker,
  requires: [IAcpConnection, IDocumentManager, IEditorLanguageRegistry],
  optional: [ILabShell, IRecentsManager, ISettingRegistry],
  activate: (
    app: JupyterFrontEnd,
    connection: IAcpConnection,
    manager: IDocumentManager,
    languages: IEditorLanguageRegistry,
    labShell: ILabShell | null,
    recents: IRecentsManager | null,
    settingRegistry: ISettingRegistry | null
  ): IWorkspaceTracker => {
    const lazy = new LazyTracker();
    const load = async (): Promise<IWorkspaceTracker> => {
      await connection.ready;
      const [{ WorkspaceTracker }, settings] = await Promise.all([
        import('../workspace/tracker'),
        settingRegistry
          ? tellServer(
              connection,
              settingRegistry,
              workspace.id,
              ({ composite: { contextLength } }) => ({ contextLength })
            )
          : undefined
      ]);
      return new WorkspaceTracker({
        connection,
        shell: app.shell,
        layoutModified: labShell?.layoutModified,
        manager,
        registry: manager.registry,
        contents: app.serviceManager.contents,
        kernelspecs: app.serviceManager.kernelspecs,
        languages,
        recents: recents ?? undefined,
        settings
      });
    };
    load().then(
      tracker => lazy.follow(tracker),
      // Without the settings nobody knows what the user wants to share.
      error => console.error('jupyter-acp: agents see no documents', error)
    );
    return lazy;
  }
};
