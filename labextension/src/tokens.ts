// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Token } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import type { ISignal } from '@lumino/signaling';

import type { Attachment } from './model/attachments';
import type { SessionModel } from './model/session';
import type {
  IAgent,
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
  /** The session that the chat shows, if any. */
  readonly current: SessionModel | null;
  readonly currentChanged: ISignal<ISessions, SessionModel | null>;
  /** Start a session with an agent (the server's default if none is named). */
  create(agent?: string): Promise<SessionModel>;
  /** Follow a session that exists, from its first message. */
  open(id: string): Promise<SessionModel>;
  /** Show the last session of this workspace again, if it still exists. */
  restore(): Promise<void>;
  /** Show the welcome page. */
  clear(): void;
  agents(): Promise<IAgent[]>;
  list(): Promise<ISessionInfo[]>;
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
  remove(id: string): Promise<void>;
}

export const ISessions = new Token<ISessions>(
  'jupyter-acp-bridge:ISessions',
  'The ACP sessions of this window.'
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
  /** Whether a path or a file's URI is one that Jupyter can show. */
  canOpen(path: string): boolean;
  /** Show it, at a line if one is given (counted from 1). */
  open(path: string, line?: number): Promise<void>;
}

export const IDocumentOpener = new Token<IDocumentOpener>(
  'jupyter-acp-bridge:IDocumentOpener',
  'Shows the documents that agents name.'
);

/** Where the user is at the moment. */
export interface IActiveContext {
  label: string;
  /** What is sent along with a prompt. */
  attachments: readonly Attachment[];
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
  active(): IActiveContext | null;
  /** What could be meant by a few letters. */
  suggest(query: string): Promise<IMention[]>;
  /** A file by its contents path. */
  file(path: string): Attachment;
  /** A cell of an open notebook. */
  cell(path: string, id: string): Attachment | null;
  /** A cell that failed, with what ran before it. */
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
  /** Prompts go with where the user is, unless that is turned off for one. */
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

/** The chat, for whoever has something to say in it. */
export interface IAgentChat {
  /** Show the chat with something in its prompt, and send it if wanted. */
  ask(request: IAgentChat.IRequest): Promise<void>;
}

export namespace IAgentChat {
  export interface IRequest {
    text?: string;
    attachments?: readonly Attachment[];
    isSent?: boolean;
  }
}

export const IAgentChat = new Token<IAgentChat>(
  'jupyter-acp-bridge:IAgentChat',
  'The chat with agents.'
);
