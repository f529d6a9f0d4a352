// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type {
  IToolCallUpdate,
  IToolLocation,
  ToolContent,
  ToolKind,
  ToolStatus
} from '../protocol';

/** A tool call as far as its updates have told. */
export interface IToolCall {
  toolCallId: string;
  title: string;
  kind: ToolKind;
  /** `ended`: its turn is over and the agent never said how it went. */
  status: ToolStatus | 'ended';
  content: ToolContent[];
  locations: IToolLocation[];
  rawInput?: unknown;
  rawOutput?: unknown;
  /** What a command printed so far, by terminal id. */
  terminals: Record<string, ITerminalOutput>;
}

export interface IExit {
  exitCode?: number | null;
  signal?: string | null;
}

export interface ITerminalOutput {
  output: string;
  /** What JupyterLab calls it, while it runs and can be opened as a tab. */
  name?: string;
  /** Absent while the command runs. */
  exit?: IExit;
}

/** Enough to show; a build log must not fill the window's memory. */
const MAX_TERMINAL_CHARS = 200_000;

export function newToolCall(id: string): IToolCall {
  return {
    toolCallId: id,
    title: '',
    kind: 'other',
    status: 'pending',
    content: [],
    locations: [],
    terminals: {}
  };
}

/**
 * Merge what an update says into a call.
 *
 * Agents leave out, null or blank what did not change: only what is there
 * may replace what was there.
 */
export function mergeToolCall(call: IToolCall, update: IToolCallUpdate): void {
  if (update.title) {
    call.title = update.title;
  }
  if (update.kind) {
    call.kind = update.kind;
  }
  if (update.status) {
    call.status = update.status;
  }
  if (Array.isArray(update.content)) {
    call.content = update.content;
  }
  if (Array.isArray(update.locations)) {
    call.locations = update.locations;
  }
  if (update.rawInput !== undefined && update.rawInput !== null) {
    call.rawInput = update.rawInput;
  }
  if (update.rawOutput !== undefined && update.rawOutput !== null) {
    call.rawOutput = update.rawOutput;
  }
  mergeTerminalMeta(call, update._meta ?? {});
}

/**
 * Agents that run commands themselves stream what is printed in `_meta`.
 */
function mergeTerminalMeta(
  call: IToolCall,
  meta: Record<string, unknown>
): void {
  const printed = meta.terminal_output as
    { terminal_id?: string; data?: string } | undefined;
  if (typeof printed?.data === 'string') {
    print(terminalOf(call, printed.terminal_id), printed.data);
  }
  const exit = meta.terminal_exit as
    | { terminal_id?: string; exit_code?: number; signal?: string | null }
    | undefined;
  if (exit) {
    terminalOf(call, exit.terminal_id).exit = {
      exitCode: exit.exit_code,
      signal: exit.signal
    };
  }
}

/** Add what a command printed, forgetting the start of what is too long. */
export function print(terminal: ITerminalOutput, data: string): void {
  terminal.output += data;
  if (terminal.output.length > 2 * MAX_TERMINAL_CHARS) {
    terminal.output = terminal.output.slice(-MAX_TERMINAL_CHARS);
  }
}

function terminalOf(call: IToolCall, id = ''): ITerminalOutput {
  return (call.terminals[id] ??= { output: '' });
}

/** Colours, cursor movements and window titles. */
const ESCAPES = new RegExp(
  [
    '\\u001b\\[[0-?]*[ -/]*[@-~]',
    '\\u001b\\][^\\u0007\\u001b]*(?:\\u0007|\\u001b\\\\)',
    '\\u001b[@-Z\\\\-_]'
  ].join('|'),
  'g'
);

/** The text of a terminal: no escape codes, and lines as they were redrawn. */
export function plain(output: string): string {
  return output
    .replace(ESCAPES, '')
    .replace(/\r+\n/g, '\n')
    .replace(/^[^\n]*\r/gm, '');
}
