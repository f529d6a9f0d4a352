// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type {
  IRecentDocument,
  IWorkspaceDocument,
  IWorkspaceShares,
  IWorkspaceUpdate
} from '../protocol';

/** An update as far as it does not depend on the window that sends it. */
export type Report = Omit<IWorkspaceUpdate, 'window' | 'focused' | 'gone'>;

/**
 * Remembers what was last told about each document and finds what is new.
 * Looks only at documents that were marked, so that moving a cursor costs the
 * same with one document open as with hundreds.
 */
export class WorkspaceReport {
  constructor(private readonly _source: WorkspaceReport.ISource) {}

  /** What the user lets agents see; nothing before it is known. */
  shares: IWorkspaceShares = {
    openDocuments: false,
    recentDocuments: false,
    activeDocument: false
  };

  markDocument(path: string): void {
    this._stale.add(path);
  }

  markRecents(): void {
    this._recentsStale = true;
  }

  /** The whole state, as if nothing had ever been told. */
  full(): Report {
    this._sent.clear();
    this._active = undefined;
    this._recents = undefined;
    this._recentsStale = true;
    this._stale = new Set(this._source.documents);
    return {
      full: true,
      documents: [],
      shares: this.shares,
      ...this.changes()
    };
  }

  /** What differs from what was told; empty if nothing does. */
  changes(): Report {
    const report: Report = {};
    const active = this.shares.activeDocument ? this._source.active : null;
    if (active !== this._active) {
      for (const path of [active, this._active]) {
        if (path) {
          this._stale.add(path);
        }
      }
      report.active = this._active = active;
    }
    const documents: IWorkspaceDocument[] = [];
    const closed: string[] = [];
    for (const path of this._stale) {
      const document = this._describe(path);
      const text = JSON.stringify(document);
      if (!document) {
        if (this._sent.delete(path)) {
          closed.push(path);
        }
      } else if (this._sent.get(path) !== text) {
        this._sent.set(path, text);
        documents.push(document);
      }
    }
    this._stale.clear();
    if (documents.length > 0) {
      report.documents = documents;
    }
    if (closed.length > 0) {
      report.closed = closed;
    }
    // After the documents, which tell the languages of notebooks.
    const recents = this._newRecents();
    if (recents) {
      report.recents = recents;
    }
    return report;
  }

  private _describe(path: string): IWorkspaceDocument | null {
    const { openDocuments, activeDocument } = this.shares;
    if (!openDocuments && path !== this._active) {
      return null;
    }
    const document = this._source.describe(path);
    if (document?.kind === 'notebook') {
      const { languageId } = document;
      if (this._notebooks.get(path) !== languageId) {
        this._notebooks.set(path, languageId);
        this._recentsStale = true;
      }
    }
    if (document && !activeDocument) {
      // The latest of all would tell which one is active.
      delete document.lastFocused;
    }
    return document;
  }

  private _newRecents(): IRecentDocument[] | null {
    if (!this._recentsStale) {
      return null;
    }
    this._recentsStale = false;
    const recents = this.shares.recentDocuments
      ? this._source.recents(this._notebooks)
      : [];
    const text = JSON.stringify(recents);
    if (text === this._recents) {
      return null;
    }
    this._recents = text;
    return recents;
  }

  /** Undefined before anything was told. */
  private _active: string | null | undefined;
  private _recents: string | undefined;
  private _recentsStale = false;
  private _stale = new Set<string>();
  /** What was told about each path. */
  private readonly _sent = new Map<string, string>();
  /** The languages of the notebooks that were seen open. */
  private readonly _notebooks = new Map<string, string>();
}

export namespace WorkspaceReport {
  export interface ISource {
    readonly documents: readonly string[];
    readonly active: string | null;
    describe(path: string): IWorkspaceDocument | null;
    recents(notebooks: ReadonlyMap<string, string>): IRecentDocument[];
  }
}
