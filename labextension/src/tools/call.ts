// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type {
  ToolCallContent,
  ToolCallLocation,
  ToolCallStatus,
  ToolKind
} from '@agentclientprotocol/sdk';

import type { IToolUpdate } from '../decode/toolcall';
import { TerminalOutput } from './terminals';

/** A tool call as far as its updates have told. */
export interface IToolCall {
  toolCallId: string;
  title: string;
  /** The tool's own name, from agents that tell it. */
  toolName?: string;
  kind: ToolKind;
  /** `ended`: its turn is over and the agent never said how it went. */
  status: ToolCallStatus | 'ended';
  content: ToolCallContent[];
  locations: ToolCallLocation[];
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
 * Agents leave out or blank what did not change: only what is there may replace
 * what was there.
 */
export function mergeToolCall(call: IToolCall, update: IToolUpdate): void {
  const { printed, exit, ...told } = update;
  const said = Object.entries(told).filter(
    ([key, value]) =>
      key !== 'toolCallId' && value !== undefined && value !== ''
  );
  Object.assign(call, Object.fromEntries(said));
  if (printed) {
    terminalOf(call, printed.terminalId).output.append(printed.data);
  }
  if (exit) {
    const { terminalId, ...ended } = exit;
    terminalOf(call, terminalId).exit = ended;
  }
}

function terminalOf(call: IToolCall, id: string): TerminalOutput {
  return (call.terminals[id] ??= new TerminalOutput());
}

/** Where it works, but for the files whose changes it shows anyway. */
export function placesOf({
  content,
  locations
}: Pick<IToolCall, 'content' | 'locations'>): ToolCallLocation[] {
  const shown = new Set(
    content.map(part => (part.type === 'diff' ? part.path : ''))
  );
  return locations.filter(({ path }) => !shown.has(path));
}
