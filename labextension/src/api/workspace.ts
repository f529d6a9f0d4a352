// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Token } from '@lumino/coreutils';
import type { ISignal } from '@lumino/signaling';

import type { IWorkspaceDocument } from '../protocol';

/**
 * The documents that this window has open. Nothing is followed, and nothing
 * known, before the window is connected to the server for the first time.
 */
export interface IWorkspaceTracker {
  /** The path of the document that the user works in, if it is one. */
  readonly active: string | null;
  /** The paths of the open notebooks and text files. */
  readonly documents: readonly string[];
  /** Emitted when either of them has changed. */
  readonly changed: ISignal<IWorkspaceTracker, void>;
  /** Emitted when anything has, such as the cursor in one of them. */
  readonly viewChanged: ISignal<IWorkspaceTracker, void>;
  /** What is open at a path, if anything is. */
  describe(path: string): IWorkspaceDocument | null;
  /** What agents are told with each message, as the user has set it. */
  readonly told: IWorkspaceTracker.ITold;
}

export namespace IWorkspaceTracker {
  export interface ITold {
    /** Which document the user is in, and where in it. */
    readonly place: boolean;
    /** Which documents are open. */
    readonly documents: boolean;
  }
}

export const IWorkspaceTracker = new Token<IWorkspaceTracker>(
  'jupyter-acp-bridge:IWorkspaceTracker',
  'The documents that are open in this window, and the one in use.'
);

/** Shows documents. */
export interface IDocumentOpener {
  /**
   * What an agent means by a path or a file's URI, perhaps with a line; null if
   * it is nothing that Jupyter can show. A path may begin at a folder.
   */
  find(target: string, folder?: string): IDocumentOpener.IPlace | null;
  open(place: IDocumentOpener.IPlace): Promise<void>;
}

export namespace IDocumentOpener {
  export interface IPlace {
    /** As the contents API spells it. */
    path: string;
    /** Counted from 1. */
    line?: number;
  }
}

export const IDocumentOpener = new Token<IDocumentOpener>(
  'jupyter-acp-bridge:IDocumentOpener',
  'Shows the documents that agents name.'
);

/** Brings code to where the user works. */
export interface ICodeActions {
  /** Below the active cell of a notebook, or at the cursor of a text file. */
  insert(code: string): Promise<void>;
  /** In the place of what the active cell says. */
  replace(code: string): Promise<void>;
  /** Below the active cell, and run it. */
  run(code: string): Promise<void>;
}

export const ICodeActions = new Token<ICodeActions>(
  'jupyter-acp-bridge:ICodeActions',
  'Brings code from the chat into notebooks and files.'
);
