// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type {
  ToolCallContent,
  ToolCallLocation,
  ToolCallStatus,
  ToolKind
} from '@agentclientprotocol/sdk';

import { location, toolContent } from './content';
import {
  type Fields,
  type Shape,
  type Shaped,
  anything,
  count,
  fields,
  ignore,
  list,
  name,
  object,
  oneOf,
  orElse,
  text,
  wordOr
} from './shapes';

/** A tool call, or what changed in one: every field but the id may be absent. */
export interface IToolUpdate {
  toolCallId: string;
  title?: string;
  /** The tool's own name. */
  toolName?: string;
  kind?: ToolKind;
  status?: ToolCallStatus;
  content?: ToolCallContent[];
  locations?: ToolCallLocation[];
  rawInput?: unknown;
  rawOutput?: unknown;
  /** What a command that the agent runs itself has printed. */
  printed?: { terminalId: string; data: string };
  /** How it ended. */
  exit?: IExit & { terminalId: string };
}

/** How a command ended. */
export interface IExit {
  exitCode?: number;
  signal?: string;
}

export const exit: Shape<IExit> = fields({}, { exitCode: count, signal: text });

const callWith = (toolCallId: Shape<string>) =>
  fields(
    { toolCallId },
    {
      title: text,
      name: text,
      kind: wordOr<ToolKind>(
        'other',
        'read',
        'edit',
        'delete',
        'move',
        'search',
        'execute',
        'think',
        'fetch',
        'switch_mode'
      ),
      status: oneOf<ToolCallStatus>(
        'pending',
        'in_progress',
        'completed',
        'failed'
      ),
      content: list(toolContent),
      locations: list(location),
      rawInput: anything,
      rawOutput: anything,
      _meta: object
    }
  );

const printed = fields({ data: text }, { terminal_id: text });
const ended = fields(
  { terminal_id: orElse(text, '') },
  { exit_code: count, signal: text }
);

/** Without an id, nobody could tell which call it is. */
export const toolUpdate = updateWith(name);

/** In a question, the call is there already: its id does not matter. */
export const askedCall = updateWith(orElse(text, ''));

function updateWith(id: Shape<string>): Shape<IToolUpdate> {
  const call = callWith(id);
  return (value, drop) => {
    const found = call(value, drop);
    return found && toUpdate(found);
  };
}

function toUpdate(found: Shaped<ReturnType<typeof callWith>>): IToolUpdate {
  const { _meta: meta = {}, name: toolName, ...rest } = found;
  const output = printed(meta.terminal_output, ignore);
  const end = ended(meta.terminal_exit, ignore);
  return {
    ...rest,
    toolName: toolName ?? toolNameIn(meta),
    ...(output && {
      printed: { terminalId: output.terminal_id ?? '', data: output.data }
    }),
    ...(end && {
      exit: {
        terminalId: end.terminal_id,
        exitCode: end.exit_code,
        signal: end.signal
      }
    })
  };
}

/** Some agents tell it in `_meta`, or in a part of it with their name. */
function toolNameIn(meta: Fields): string | undefined {
  return [meta, ...Object.values(meta)]
    .map(each => name(object(each, ignore)?.toolName, ignore))
    .find(Boolean);
}
