// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

/**
 * The part of the Agent Client Protocol that the browser reads or writes, and
 * the small `_jupyter/` surface next to it. Agents send fields and update
 * kinds that are not named here; whatever is not named is kept and ignored.
 */

/** The protocol version that this client speaks. */
export const PROTOCOL_VERSION = 1;

/** The key under which everything of ours lives in `_meta`. */
export const META_KEY = 'jupyter-acp';

/** Where an extension that several clients share keeps what is its own. */
export const SANDBOX_KEY = 'sandboxagent.dev';

/** Names of the methods on the socket. */
export const Method = {
  initialize: 'initialize',
  authenticate: 'authenticate',
  logout: 'logout',
  sessionNew: 'session/new',
  sessionLoad: 'session/load',
  sessionClose: 'session/close',
  sessionFork: 'session/fork',
  sessionPrompt: 'session/prompt',
  sessionCancel: 'session/cancel',
  sessionSetMode: 'session/set_mode',
  sessionSetModel: 'session/set_model',
  sessionSetConfigOption: 'session/set_config_option',
  sessionUpdate: 'session/update',
  requestPermission: 'session/request_permission',
  elicit: 'elicitation/create',
  cancelRequest: '$/cancel_request',
  attach: '_jupyter/session/attach',
  detach: '_jupyter/session/detach',
  queue: '_jupyter/session/queue',
  state: '_jupyter/session/state',
  restored: '_jupyter/session/restored',
  notice: '_jupyter/session/notice',
  reload: '_jupyter/session/reload',
  reloaded: '_jupyter/session/reloaded',
  modelChanged: '_jupyter/session/model',
  servers: '_jupyter/session/servers',
  sessionsChanged: '_jupyter/sessions/changed',
  sessionsRemoved: '_jupyter/sessions/removed',
  permissionResolved: '_jupyter/permission_resolved',
  permissionDecided: '_jupyter/permission_decided',
  promptContext: '_jupyter/prompt/context',
  toolRecord: '_jupyter/tool',
  terminalCreated: '_jupyter/terminal/created',
  terminalOutput: '_jupyter/terminal/output',
  terminalExit: '_jupyter/terminal/exit',
  settingsUpdate: '_jupyter/settings/update',
  workspaceUpdate: '_jupyter/workspace/update',
  documentRead: '_jupyter/document/read',
  documentWrite: '_jupyter/document/write',
  documentSave: '_jupyter/document/save',
  documentShow: '_jupyter/document/show',
  notebookRun: '_jupyter/notebook/run',
  notebookRestart: '_jupyter/notebook/restart',
  fileChanged: '_jupyter/file/changed',
  changeDecide: '_jupyter/change/decide',
  changeDecided: '_jupyter/change/decided',
  remoteInspect: '_jupyter/remote/inspect',
  remotePush: '_jupyter/remote/push',
  remoteProgress: '_jupyter/remote/progress',
  remoteResult: '_jupyter/remote/result',
  remoteFetch: '_jupyter/remote/fetch',
  remoteStop: '_jupyter/remote/stop',
  remoteReview: '_jupyter/remote/review',
  remoteFile: '_jupyter/remote/file',
  remoteAct: '_jupyter/remote/act'
} as const;

/** JSON-RPC error codes that the client sends or recognises. */
export const ErrorCode = {
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  authRequired: -32000,
  resourceNotFound: -32002,
  conflict: -32012,
  cancelled: -32800
} as const;

export interface IMeta {
  _meta?: Record<string, unknown> | null;
}

/** How much of an agent's memory a session takes. */
export interface IUsage {
  used: number;
  size: number;
  cost?: { amount: number; currency: string };
  /** What is counted, if it is not tokens. */
  unit?: string;
}

/** An MCP server that was set up for every session, and what became of it in this one. */
export interface IMcpServer {
  name: string;
  type?: string;
  /** Others than these may come. */
  state: string;
  /** Why it failed. */
  message?: string;
}

export interface ISessionParams extends IMeta {
  sessionId: string;
}

export type SessionState = 'idle' | 'running' | 'disconnected' | 'closed';

export interface IStateError {
  message: string;
  stderr?: string[];
}

export interface IAgent {
  id: string;
  name: string;
  description?: string | null;
  icon?: string | null;
  source?: string;
  available: boolean;
  missing?: string | null;
  install?: string | null;
  running?: boolean;
  canLogOut?: boolean;
  default?: boolean;
}

/** One of the ways to log in to an agent, as our server describes it. */
export type AuthMethod = {
  id: string;
  name: string;
  description?: string;
} & (
  | { type: 'agent' }
  /** The command is null where it could not be shown as it is. */
  | { type: 'terminal'; command: string | null }
  | { type: 'env_var'; variables: IAuthVariable[]; link?: string }
);

export interface IAuthVariable {
  name: string;
  label?: string;
  optional: boolean;
  /** Whether the agent would find it. */
  isSet: boolean;
}

/** A session as REST and `_jupyter/session/attach` describe it. */
export interface ISessionInfo {
  id: string;
  agent: string;
  title?: string | null;
  cwd?: string;
  state?: SessionState;
  /** Why the last turn ended, in the agent's words. */
  stopReason?: string | null;
  error?: string | null;
  /** It was an error that ended the last turn. */
  failed?: boolean;
  /** Another id that it answers to. */
  alias?: string | null;
  /** Its agent can tell what was said in it. */
  canReload?: boolean;
  created?: string;
  updated?: string;
  seq?: number;
  /** How many questions of the agent nobody has answered yet. */
  waiting?: number;
  /** What it began with, if its files are in a repository elsewhere. */
  remote?: IGitRemoteRef | null;
}

export interface IAttachResult {
  seq: number;
  state: SessionState;
  pending: string[];
  queued?: IQueuedPrompt[];
  session?: ISessionInfo;
}

/** A place in a transcript where something is said. */
export interface IMatch {
  seq: number;
  speaker: 'user' | 'agent' | 'tool';
  parts: { text: string; isMatch: boolean }[];
}

/** A prompt that waits for the turns before it. */
export interface IQueuedPrompt {
  promptId: string;
  text: string;
}

export interface IPromptResult {
  stopReason?: string;
}

export interface INewSessionResult extends IMeta {
  sessionId: string;
}

export interface IInitializeResult extends IMeta {
  protocolVersion: number;
  agentInfo?: { name: string; title?: string; version?: string };
}

/** A place in a text: both numbers begin at 0, characters are UTF-16 units. */
export interface IPosition {
  line: number;
  character: number;
}

export interface ISelection {
  start: IPosition;
  end: IPosition;
  text: string;
  /** The text was too long and is only its beginning. */
  truncated?: true;
}

export type VisibleRange =
  | { start: IPosition; end: IPosition }
  | { start: { cell: number }; end: { cell: number } };

export type DocumentKind = 'notebook' | 'file';

/** A document that is open in this window. */
export interface IWorkspaceDocument {
  /** As the contents API spells it. */
  path: string;
  languageId: string;
  kind: DocumentKind;
  dirty: boolean;
  /** In a notebook: in the editor of the active cell. */
  cursor?: IPosition;
  selection?: ISelection;
  visibleRange?: VisibleRange;
  cell?: { id: string; index: number; type: string };
  kernel?: { name: string; state: string };
  lastFocused?: string;
  /** Of the file as it was loaded or saved here. */
  fileHash?: string;
}

export interface IRecentDocument {
  path: string;
  languageId?: string;
  kind: DocumentKind;
}

/** What the user lets agents see. */
export interface IWorkspaceShares {
  openDocuments: boolean;
  recentDocuments: boolean;
  activeDocument: boolean;
}

/** What a window has open: all of it, or what changed since the last one. */
export interface IWorkspaceUpdate {
  window: string;
  full?: true;
  documents?: IWorkspaceDocument[];
  closed?: string[];
  active?: string | null;
  focused?: true;
  recents?: IRecentDocument[];
  shares?: IWorkspaceShares;
  gone?: true;
}

export type DocumentFormat = 'text' | 'notebook';

/** An open document as the user sees it, unsaved changes included. */
export interface IDocumentContent {
  format: DocumentFormat;
  /** Text with "\n" at its line ends, or a notebook's JSON with its outputs. */
  content: unknown;
  /** Names this content in a later write. */
  version: string;
  dirty: boolean;
  /** Shared with others, by something that takes care of the file itself. */
  collaborative: boolean;
  /** Of the file as it was loaded, saved or merged here. */
  fileHash?: string;
}

/** Change what differs between the content read at `version` and this one. */
export interface IDocumentWriteParams {
  path: string;
  format: DocumentFormat;
  content: unknown;
  version: string;
  save?: boolean;
  /** The file was changed by others; `content` accounts for this one. */
  onDisk?: { hash: string; dirty: boolean };
}

export interface IDocumentWritten {
  version: string;
  /** The user has changed the same part; nothing was written. */
  conflict?: true;
}

/** Where a document is that was to be shown. */
export interface IDocumentShown {
  /** False if it would hide what the user is typing in. */
  visible: boolean;
}

/** How a cell ran. */
export interface INotebookRun {
  status: 'ok' | 'error' | 'aborted';
  executionCount: number | null;
  outputs: object[];
}

/** A state of a git repository that is elsewhere. */
export interface IGitRemoteRef {
  type: 'git';
  /** Without passwords. */
  url: string;
  branch: string;
  /** The 40 or 64 hexadecimal digits of a commit. */
  revision: string;
}

/** Something to know about a repository, and what to do about it. */
export interface IRemoteNote {
  code: string;
  message: string;
  /** Nothing can be begun as long as it is so. */
  blocking: boolean;
}

/** The repository that a folder is in, as it stands. */
export interface IRemoteInspection {
  toplevel: string;
  /** The folder, from there. */
  folder: string;
  /** Null where there is none, or none that could be used. */
  remote: string | null;
  url: string | null;
  branch: string | null;
  revision: string | null;
  /** Every commit is on the remote. */
  pushed: boolean;
  /** How many are not. */
  unpushed: number;
  /**
   * What is not committed: the first of it, and how many files there are. New
   * folders are listed as one, with the number of files in them.
   */
  changes: { status: string; path: string; files: number }[];
  changeCount: number;
  /** How many of these files git does not know yet. */
  newCount: number;
  /** What can be begun with without pushing anything. */
  ref: IGitRemoteRef | null;
  canPush: boolean;
  problems: IRemoteNote[];
  warnings: IRemoteNote[];
}

/** How far git is, in its own words. */
export interface IRemoteProgress {
  token: string;
  stage: string;
  percent?: number | null;
  detail?: string | null;
}

export type ResultState =
  | 'there'
  | 'fetching'
  | 'ready'
  | 'failed'
  | 'checkedOut'
  | 'merged'
  | 'picked'
  | 'discarded';

/** What a turn has brought back, and what has become of it. */
export interface IRemoteResult {
  /** Counted from 1 in its session. */
  number: number;
  target: IGitRemoteRef;
  state: ResultState;
  /** What happened, or why it did not. */
  message?: string | null;
  /** Given if what happened can be undone. */
  undo?: unknown;
}

export interface IRemoteCommit {
  revision: string;
  author: string;
  email: string;
  date: string;
  subject: string;
  body: string;
}

/** What became of one file, by git's letters. */
export interface IRemoteFile {
  status: string;
  path: string;
  oldPath?: string | null;
  /** Lines; null where there are none to count. */
  added?: number | null;
  removed?: number | null;
  binary?: boolean;
}

/** What is in a result: the first of each, and how many there are. */
export interface IRemoteReview {
  commits: { commits: IRemoteCommit[]; total: number };
  files: { files: IRemoteFile[]; total: number };
}

/** A file on one side. */
export interface IRemoteText {
  text: string | null;
  /** Why there is no text: `missing` where there is no file. */
  reason?: string | null;
  /** The same in words. */
  message?: string;
}

export type ResultAction = 'checkout' | 'merge' | 'pick' | 'discard' | 'undo';

/** What our server adds to its `initialize` answer. */
export interface IServerMeta {
  connectionId?: string;
  /** Names the server's run; the numbers of messages hold within one. */
  run?: string;
  defaultAgent?: string;
  rootDir?: string;
  /** Whether whoever looks at this may work here; otherwise, only watch. */
  mayAct?: boolean;
  /** How long agents may take to start, and to answer what should not take long, in seconds. */
  limits?: { initialize: number; request: number };
}

/** Our own part of a message's `_meta`, empty when there is none. */
export function ourMeta<T extends object>(holder: unknown): Partial<T> {
  const meta = (holder as IMeta | null | undefined)?._meta?.[META_KEY];
  return meta && typeof meta === 'object' ? meta : {};
}
