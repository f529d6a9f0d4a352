// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type {
  IToolCallUpdate,
  IToolLocation,
  ToolContent,
  ToolKind,
  ToolStatus
} from '../protocol';
import { TerminalOutput } from './terminals';

/** A tool call as far as its updates have told. */
export interface IToolCall {
  toolCallId: string;
  title: string;
  /** The tool's own name, from agents that tell it. */
  toolName?: string;
  kind: ToolKind;
  /** `ended`: its turn is over and the agent never said how it went. */
  status: ToolStatus | 'ended';
  content: ToolContent[];
  locations: IToolLocation[];
  rawInput?: unknown;
  rawOutput?: unknown;
  /** What a command printed so far, by terminal id. */
  terminals: Record<string, TerminalOutput>;
}

export function newToolCall(id: string): IToolCall {
  return {
    toolCallId: id,
    title: '',
    kind: 'other',
    status: 'pending',
    content: [],
    locations: [],
    // Agents choose the ids, and one may choose `__proto__`.
    terminals: Object.create(null) as IToolCall['terminals']
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
  const meta = update._meta ?? {};
  call.toolName = toolNameIn(meta) ?? call.toolName;
  mergeTerminalMeta(call, meta);
}

/** Agents that tell it do so in `_meta`, or in a part of it with their name. */
function toolNameIn(meta: Record<string, unknown>): string | undefined {
  return [meta, ...Object.values(meta)]
    .map(each => (each as { toolName?: unknown } | null)?.toolName)
    .find((name): name is string => typeof name === 'string' && name !== '');
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
    terminalOf(call, printed.terminal_id).output.append(printed.data);
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

function terminalOf(call: IToolCall, id = ''): TerminalOutput {
  return (call.terminals[id] ??= new TerminalOutput());
}

/** Where it works, but for the files whose changes it shows anyway. */
export function placesOf({
  content,
  locations
}: Pick<IToolCall, 'content' | 'locations'>): IToolLocation[] {
  const shown = new Set(
    content.map(part => (part.type === 'diff' ? part.path : ''))
  );
  return locations.filter(place => isPlace(place) && !shown.has(place.path));
}

/** Agents may send anything. */
function isPlace(place: unknown): place is IToolLocation {
  const path = (place as IToolLocation | null)?.path;
  return typeof path === 'string' && path !== '';
}
