// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IRecentsManager } from '@jupyterlab/docmanager';
import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import { UUID } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import type { IAcpConnection } from '../api/connection';
import type { IWorkspaceTracker } from '../api/workspace';
import {
  type IWorkspaceDocument,
  type IWorkspaceShares,
  type IWorkspaceUpdate,
  Method
} from '../protocol';
import { OpenDocuments } from './documents';
import { type IRecentsOptions, recentDocuments } from './recents';
import { WorkspaceReport } from './report';
import { Throttle } from './throttle';

/**
 * Tells the server what the user has open in this window: everything at each
 * new connection, then what changes, at most ten times a second.
 */
export class WorkspaceTracker implements IWorkspaceTracker, IDisposable {
  constructor(private readonly _options: WorkspaceTracker.IOptions) {
    const { connection, recents, settings } = _options;
    const open = (this._open = new OpenDocuments(_options));
    this._report = new WorkspaceReport({
      get documents() {
        return open.documents;
      },
      get active() {
        return open.active;
      },
      describe: path => open.describe(path),
      recents: notebooks =>
        recents ? recentDocuments(recents, _options, notebooks) : []
    });
    this._report.shares = sharesOf(settings);
    open.stale.connect(this._onStale, this);
    open.changed.connect(this._onChanged, this);
    recents?.changed.connect(this._onRecents, this);
    settings?.changed.connect(this._onSettings, this);
    connection.statusChanged.connect(this._onStatus, this);
    window.addEventListener('focus', this._onFocus);
    document.addEventListener('visibilitychange', this._onFocus);
    window.addEventListener('pagehide', this._onPageHide);
    window.addEventListener('pageshow', this._onPageShow);
    this._onStatus();
  }

  get active(): string | null {
    return this._open.active;
  }

  get documents(): readonly string[] {
    return this._open.documents;
  }

  get changed(): ISignal<IWorkspaceTracker, void> {
    return this._changed;
  }

  get viewChanged(): ISignal<IWorkspaceTracker, void> {
    return this._viewChanged;
  }

  describe(path: string): IWorkspaceDocument | null {
    return this._open.describe(path);
  }

  get told(): IWorkspaceTracker.ITold {
    const { activeDocument, openDocuments } = this._report.shares;
    const isOn = this._options.settings?.composite.contextLength !== 0;
    return { place: isOn && activeDocument, documents: isOn && openDocuments };
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    this._throttle.dispose();
    window.removeEventListener('focus', this._onFocus);
    document.removeEventListener('visibilitychange', this._onFocus);
    window.removeEventListener('pagehide', this._onPageHide);
    window.removeEventListener('pageshow', this._onPageShow);
    Signal.clearData(this);
    this._open.dispose();
  }

  private _onStale(_: OpenDocuments, path: string): void {
    this._report.markDocument(path);
    this._request();
    this._viewChanged.emit();
  }

  private _onChanged(): void {
    this._request();
    this._changed.emit();
    this._viewChanged.emit();
  }

  private _onRecents(): void {
    this._report.markRecents();
    this._request();
  }

  private _onSettings(settings: ISettingRegistry.ISettings): void {
    this._report.shares = sharesOf(settings);
    this._requestFull();
    this._viewChanged.emit();
  }

  private _onStatus(): void {
    this._requestFull();
  }

  private readonly _onFocus = (): void => {
    if (document.hasFocus()) {
      this._gotFocus = true;
      this._open.focus();
      this._request();
    }
  };

  private readonly _onPageHide = (): void => {
    this._isAway = true;
    this._notify({ gone: true });
  };

  /** A page that the browser kept aside for its back button comes to life. */
  private readonly _onPageShow = (): void => {
    this._isAway = false;
    this._requestFull();
  };

  private _requestFull(): void {
    this._isFull = true;
    this._request();
  }

  private _request(): void {
    if (this._options.connection.status === 'connected') {
      this._throttle.request();
    }
  }

  private _send(): void {
    if (this._isAway || this._options.connection.status !== 'connected') {
      return;
    }
    const update: Omit<IWorkspaceUpdate, 'window'> = this._isFull
      ? this._report.full()
      : this._report.changes();
    if ('active' in update ? document.hasFocus() : this._gotFocus) {
      update.focused = true;
    }
    this._isFull = false;
    this._gotFocus = false;
    if (Object.keys(update).length > 0) {
      this._notify(update);
    }
  }

  private _notify(update: Omit<IWorkspaceUpdate, 'window'>): void {
    this._options.connection.notify(Method.workspaceUpdate, {
      window: this._window,
      ...update
    } satisfies IWorkspaceUpdate);
  }

  private _isDisposed = false;
  private _isAway = false;
  private _isFull = true;
  private _gotFocus = false;
  private readonly _open: OpenDocuments;
  private readonly _report: WorkspaceReport;
  /** Names this load of the page among the user's windows. */
  private readonly _window = UUID.uuid4();
  private readonly _changed = new Signal<this, void>(this);
  private readonly _viewChanged = new Signal<this, void>(this);
  private readonly _throttle = new Throttle(() => this._send());
}

export namespace WorkspaceTracker {
  export interface IOptions extends OpenDocuments.IOptions, IRecentsOptions {
    connection: IAcpConnection;
    recents?: IRecentsManager;
    settings?: ISettingRegistry.ISettings;
  }
}

function sharesOf(settings?: ISettingRegistry.ISettings): IWorkspaceShares {
  const isOn = (key: string) => settings?.composite[key] !== false;
  return {
    openDocuments: isOn('shareOpenDocuments'),
    recentDocuments: isOn('shareRecentDocuments'),
    activeDocument: isOn('shareActiveDocument')
  };
}
