// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Token } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import type { ISignal } from '@lumino/signaling';

import type { IChatContext } from './components/context';
import type { Attachment } from './model/attachments';
import type { Attention } from './model/attention';
import type { GitProgress } from './model/progress';
import type { SessionModel } from './model/session';
import type { SessionList } from './model/sessionlist';
import type { Transcript } from './model/transcript';
import type {
  IAgent,
  IGitRemoteRef,
  IMatch,
  IServerMeta,
  ISessionInfo,
  IWorkspaceDocument
} from './protocol';
import type { IIncomingRequest } from './rpc';

/** The window's socket to the server. */
export interface IAcpConnection extends IDisposable {
  readonly status: IAcpConnection.Status;
  readonly statusChanged: ISignal<IAcpConnection, IAcpConnection.Status>;
  /** Emitted for each notification, in the order in which it arrived. */
  readonly notified: ISignal<IAcpConnection, IAcpConnection.INotification>;
  /** What the server told about itself; empty before the first connection. */
  readonly server: Partial<IServerMeta>;
  /** Resolves at the first successful connection. */
  readonly ready: Promise<void>;
  connect(): void;
  /** Answer the server's requests of one method, until this is disposed. */
  addRequestHandler(
    method: string,
    handler: IAcpConnection.RequestHandler
  ): IDisposable;
  request<T>(
    method: string,
    params: unknown,
    options?: IAcpConnection.IRequestOptions
  ): Promise<T>;
  notify(method: string, params: unknown): void;
}

export namespace IAcpConnection {
  export type Status = 'connecting' | 'connected' | 'disconnected';

  export interface INotification {
    method: string;
    params: unknown;
  }

  /** Answers a request, now or at any later time. */
  export type RequestHandler = (request: IIncomingRequest) => void;

  export interface IRequestOptions {
    signal?: AbortSignal;
  }
}

export const IAcpConnection = new Token<IAcpConnection>(
  'jupyter-acp-bridge:IAcpConnection',
  'The socket of this window to the Jupyter server, which speaks ACP.'
);

/** The sessions that this window follows, and those that it could open. */
export interface ISessions extends IDisposable {
  readonly connection: IAcpConnection;
  /** Whether this user may only watch. */
  readonly isGuest: boolean;
  /** Every session of the server, also those that this window has not open. */
  readonly list: SessionList;
  /** What the person should know of sessions that are not to be seen. */
  readonly attention: Attention;
  /** How far git is in what it does for remote sessions. */
  readonly progress: GitProgress;
  /** The ids of the sessions that the side panel has open, in their order. */
  readonly tabs: readonly string[];
  readonly tabsChanged: ISignal<ISessions, void>;
  /** The one of them that it shows; if none, it shows the list. */
  readonly current: SessionModel | null;
  readonly currentChanged: ISignal<ISessions, SessionModel | null>;
  /** Start a session with an agent (the server's default if none is named). */
  create(agent?: string): Promise<SessionModel>;
  /** Start one on a repository that is elsewhere, which may take minutes. */
  createRemote(
    wanted: ISessions.IRemote,
    options?: IAcpConnection.IRequestOptions
  ): Promise<SessionModel>;
  /** Start one that has the past of another, and show it. */
  fork(id: string): Promise<SessionModel>;
  /** Show a session that exists in the side panel. */
  open(id: string): Promise<SessionModel>;
  /** Follow a session that exists, from its first message. */
  follow(id: string): Promise<SessionModel>;
  /** Take note that the main area has a session open, and not the side panel. */
  setInMain(id: string, isInMain: boolean): void;
  /** Show a session no longer in the side panel; it goes on. */
  close(id: string): void;
  /** Open in the side panel what it had open before, or is to begin with. */
  restore(): Promise<void>;
  /** Connect, if this window had sessions open before it was loaded again. */
  resume(): void;
  /** Show the list. */
  clear(): void;
  agents(): Promise<IAgent[]>;
  restartAgent(id: string): Promise<void>;
  /** What the agent printed last, line by line. */
  agentLog(id: string): Promise<string[]>;
  /** Log in to an agent by one of its own methods. */
  authenticate(
    id: string,
    methodId: string,
    options?: IAcpConnection.IRequestOptions
  ): Promise<void>;
  logout(id: string): Promise<void>;
  rename(id: string, title: string): Promise<void>;
  /** End it with its agent; what was said stays, and the next message opens it again. */
  end(id: string): Promise<void>;
  remove(id: string): Promise<void>;
  /** Replace its transcript by what its agent tells. */
  reload(id: string): Promise<void>;
  /** Sessions that running agents have, and this server has not. */
  elsewhere(): Promise<ISessionInfo[]>;
  /** Take one of them over. */
  takeOver(session: ISessionInfo): Promise<void>;
  /** Where in which sessions some words are said. */
  search(words: string): Promise<Map<string, readonly IMatch[]>>;
  /** A session as JSON lines, for another server or for later. */
  export(id: string): Promise<string>;
  /** Take a session that was exported as a new one. */
  import(lines: string): Promise<ISessionInfo>;
  /** Read a session as it is now, without following it. */
  transcript(id: string): Promise<Transcript>;
}

export namespace ISessions {
  export interface IRemote {
    agent?: string;
    /** The folder here, which what comes back is for. */
    cwd: string;
    ref: IGitRemoteRef;
    /** The same folder in the repository. */
    folder: string;
    /** Names what git tells of its progress. */
    progressToken: string;
  }
}

export const ISessions = new Token<ISessions>(
  'jupyter-acp-bridge:ISessions',
  'The ACP sessions of this window.'
);

/** The chat in the side panel. */
export interface IChatPanel {
  /** What every view of a session needs. */
  readonly context: IChatContext;
  /** Show a session in the panel. */
  openSession(id: string): Promise<void>;
  /** Show what has to be known before a remote session begins. */
  newRemoteSession(wanted: IChatPanel.IRemote): Promise<void>;
  /** Put something into the prompt, of a new session if none is open. */
  ask(question: IChatPanel.IQuestion): Promise<void>;
}

export namespace IChatPanel {
  export interface IRemote {
    /** The default agent if left out. */
    agent?: string;
    /** As the contents API spells it. */
    folder: string;
  }

  export interface IQuestion {
    text?: string;
    attachments: readonly Attachment[];
    /** Say it at once; if not, the person may first add to it. */
    isSent?: boolean;
  }
}

export const IChatPanel = new Token<IChatPanel>(
  'jupyter-acp-bridge:IChatPanel',
  'The side panel in which to talk to agents.'
);

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

/** What the user lets agents do without being asked, or never. */
export interface IPermissionRules {
  /** Keep an answer that was meant to last. */
  add(rule: IPermissionRules.IRule): Promise<void>;
}

export namespace IPermissionRules {
  export interface IRule {
    agent: string;
    kind: string;
    match: string;
    decision: 'allow' | 'ask' | 'deny';
  }
}

export const IPermissionRules = new Token<IPermissionRules>(
  'jupyter-acp-bridge:IPermissionRules',
  'The rules for what agents may do.'
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

/** What the agent is told with the next message. */
export interface IActiveContext {
  /** Where the user is, if that is told. */
  label: string;
  told: IWorkspaceTracker.ITold;
}

/** Something that a prompt can mention. */
export interface IMention {
  kind: 'cell' | 'output' | 'open' | 'file';
  name: string;
  detail: string;
  attachment: Attachment;
}

/** What prompts can refer to. */
export interface IPromptContext {
  /** Emitted when the user has moved on, perhaps only by a letter. */
  readonly changed: ISignal<unknown, void>;
  /** Null if nothing is told. */
  active(): IActiveContext | null;
  /** What could be meant by a few letters. */
  suggest(query: string): Promise<IMention[]>;
  /** A file by its contents path. */
  file(path: string): Attachment;
  /** A cell of an open notebook. */
  cell(path: string, id: string): Attachment | null;
  /** A cell that failed, with what is around it. */
  failure(path: string, id: string): Attachment[];
}

export const IPromptContext = new Token<IPromptContext>(
  'jupyter-acp-bridge:IPromptContext',
  'What prompts to agents can refer to.'
);

/** How the user wants the chat to behave. */
export interface IChatSettings {
  readonly changed: ISignal<unknown, void>;
  /** Enter sends; if not, Shift+Enter does. */
  readonly sendsWithEnter: boolean;
  /** Agents are told where the user is, unless that is turned off for a session. */
  readonly sharesContext: boolean;
}

export const IChatSettings = new Token<IChatSettings>(
  'jupyter-acp-bridge:IChatSettings',
  'How the chat with agents behaves.'
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
