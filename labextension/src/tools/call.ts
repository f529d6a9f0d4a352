// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { ToolCallLocation } from '@agentclientprotocol/sdk';

import type { IToolCall as ITold } from '../api/tools';
import type { IToolUpdate } from '../decode/toolcall';
import { TerminalOutput } from './terminals';

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** A tool call as far as its updates have told, which change it in place. */
export interface IToolCall extends Mutable<ITold> {
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
