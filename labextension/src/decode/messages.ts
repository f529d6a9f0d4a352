// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type {
  AvailableCommand,
  ContentBlock,
  PlanEntry
} from '@agentclientprotocol/sdk';

import {
  type IGitRemoteRef,
  type IMcpServer,
  type IRemoteResult,
  type IStateError,
  type IUsage,
  META_KEY,
  Method,
  type SessionState
} from '../protocol';
import { contentBlock } from './content';
import {
  type IAnswer,
  type Question,
  decodeAnswer,
  decodeQuestion
} from './questions';
import { type IToolRecord, toolRecord } from './record';
import { type IConfigOption, commands, configOptions } from './setup';
import {
  type Drop,
  type Fields,
  type Shape,
  amount,
  anyOf,
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
import { type IExit, type IToolUpdate, exit, toolUpdate } from './toolcall';

/** A piece of a message. */
export interface IChunk {
  readonly kind: 'user' | 'agent' | 'thought';
  readonly content: ContentBlock;
  readonly messageId?: string;
  /** True if only the agent says that the user said it. */
  readonly isHearsay: boolean;
}

/** A message from the agent or the server that is no part of the conversation. */
export interface INotice {
  readonly level: 'info' | 'warning' | 'error';
  readonly text: string;
  readonly detail?: string;
  /** What the user can do about it. */
  readonly offer?: 'reload';
}

/** What is told of one time that an agent compacts the conversation. */
export interface ICompaction {
  readonly id: string;
  readonly status?: string;
  /** All of the summary. */
  readonly summary?: readonly ContentBlock[];
  /** The next part of it. */
  readonly added?: ContentBlock;
  readonly error?: string;
}

export interface IStateChange {
  readonly state: SessionState;
  readonly time?: string;
  readonly stopReason?: string;
  readonly error?: IStateError;
}

/** A change of a file that the server noted. */
export interface IFileChanged {
  readonly path: string;
  readonly oldText?: string;
  /** Absent if it is too long. */
  readonly newText?: string;
}

export interface IDecided {
  readonly change: string;
  readonly parts: readonly string[];
  readonly decision: 'keep' | 'undo' | 'redo';
}

/** A decision of the rules about what an agent wanted to do. */
export interface IRuled {
  readonly by: string;
  readonly decision: string;
  readonly subject: string;
  readonly toolCallId?: string;
}

/** A numbered message of a session, by what it is about. */
export type SessionEvent =
  | { type: 'chunk'; chunk: IChunk }
  | { type: 'tool'; update: IToolUpdate }
  | { type: 'record'; record: IToolRecord }
  | { type: 'plan'; entries: PlanEntry[] }
  | { type: 'notice'; notice: INotice }
  | { type: 'usage'; usage: IUsage }
  | { type: 'compaction'; compaction: ICompaction }
  | { type: 'commands'; commands: AvailableCommand[] }
  | { type: 'mode'; id: string }
  | { type: 'model'; id: string }
  | { type: 'options'; options: IConfigOption[] }
  | { type: 'title'; title: string }
  | { type: 'context'; text: string }
  | { type: 'state'; change: IStateChange }
  | { type: 'restored'; isNew: boolean; message: string }
  | { type: 'servers'; servers: IMcpServer[] }
  | { type: 'terminal'; id: string; name?: string }
  | { type: 'printed'; id: string; data: string }
  | { type: 'exited'; id: string; exit: IExit }
  | { type: 'answer'; question: Question; answer: IAnswer }
  | { type: 'ruled'; ruled: IRuled }
  | { type: 'result'; result: IRemoteResult }
  | { type: 'file'; changed: IFileChanged }
  | { type: 'decided'; decided: IDecided };

/** A message as far as it could be read. */
export interface IDecoded {
  /** Null if there is nothing to do about it. */
  readonly event: SessionEvent | null;
  /** Its parts that have no shape of the protocol. */
  readonly dropped: readonly unknown[];
}

type Reader = (value: unknown, drop: Drop) => SessionEvent | null | undefined;

/** Make a reader of a shape and of what it means. */
function reads<T>(
  shape: Shape<T>,
  toEvent: (value: T, raw: unknown) => SessionEvent | null
): Reader {
  return (value, drop) => {
    const found = shape(value, drop);
    return found === undefined ? undefined : toEvent(found, value);
  };
}

const chunk = fields({ content: contentBlock }, { messageId: text });

/** The agent may leave out what is not the text; then it is the usual. */
const plan = fields({
  entries: list<PlanEntry>(
    fields({
      content: text,
      priority: orElse(
        wordOr<PlanEntry['priority']>('medium', 'high', 'medium', 'low'),
        'medium'
      ),
      status: orElse(
        wordOr<PlanEntry['status']>(
          'pending',
          'pending',
          'in_progress',
          'completed'
        ),
        'pending'
      )
    })
  )
});

const usage: Shape<IUsage> = (value, drop) => {
  const found = fields(
    { used: amount, size: amount },
    { cost: fields({ amount, currency: text }), _meta: object }
  )(value, drop);
  if (!found) {
    return undefined;
  }
  const { _meta: meta, ...rest } = found;
  const unit = text(object(meta?.[META_KEY], ignore)?.unit, ignore);
  return { ...rest, ...(unit ? { unit } : {}) };
};

/** Some agents have other names for the parts of a notice. */
const notice: Shape<INotice> = (value, drop) => {
  const given = object(value, drop);
  if (!given) {
    return undefined;
  }
  const { severity, level, title, message, description, offer } = given;
  const content = contentBlock(given.content, ignore);
  const texts = [
    title,
    message,
    given.text,
    content?.type === 'text' ? content.text : undefined,
    description
  ].filter((each): each is string => typeof each === 'string' && each !== '');
  const found = severity ?? level;
  return texts.length === 0
    ? undefined
    : {
        level: found === 'warning' || found === 'error' ? found : 'info',
        text: texts[0],
        detail: texts.slice(1).join('\n'),
        ...(offer === Method.reload ? { offer: 'reload' } : {})
      };
};

const compaction = fields(
  { compactionId: name },
  {
    status: text,
    summary: list(contentBlock),
    content: contentBlock,
    error: text
  }
);

const compacted = reads(compaction, (found, raw) => {
  const { compactionId: id, content: added, ...rest } = found;
  // The agent takes back what it has told.
  const isGone = object(raw, ignore)?.summary === null;
  const summary = isGone ? [] : rest.summary;
  return { type: 'compaction', compaction: { ...rest, id, added, summary } };
});

/** The updates of ACP, by their names. */
const UPDATES = new Map<string, Reader>([
  ['agent_message_chunk', chunkOf('agent')],
  ['agent_thought_chunk', chunkOf('thought')],
  ['tool_call', reads(toolUpdate, update => ({ type: 'tool', update }))],
  ['tool_call_update', reads(toolUpdate, update => ({ type: 'tool', update }))],
  ['plan', reads(plan, ({ entries }) => ({ type: 'plan', entries }))],
  ['notice', reads(notice, notice => ({ type: 'notice', notice }))],
  [
    'usage_update',
    // Some agents tell nothing or a size of 0 as long as they do not know it.
    (value, drop) => {
      const { used, size } = object(value, drop) ?? {};
      const isKnown = (used ?? null) !== null && (size ?? null) !== null;
      const found = isKnown && size !== 0 ? usage(value, drop) : null;
      return found && { type: 'usage', usage: found };
    }
  ],
  ['compaction_update', compacted],
  ['compaction_summary_chunk', compacted],
  [
    'available_commands_update',
    reads(fields({ availableCommands: commands }), each => ({
      type: 'commands',
      commands: each.availableCommands
    }))
  ],
  [
    'current_mode_update',
    reads(fields({ currentModeId: text }), each => ({
      type: 'mode',
      id: each.currentModeId
    }))
  ],
  [
    'config_option_update',
    reads(fields({ configOptions }), each => ({
      type: 'options',
      options: each.configOptions
    }))
  ],
  [
    'session_info_update',
    reads(fields({}, { title: text }), ({ title }) =>
      title === undefined ? null : { type: 'title', title }
    )
  ]
]);

function chunkOf(kind: IChunk['kind'], isHearsay = false): Reader {
  return reads(chunk, found => ({
    type: 'chunk',
    chunk: { kind, isHearsay, ...found }
  }));
}

/** The server says whose prompt it was; agents repeat what they remember. */
const userChunk = chunkOf('user');
const hearsayChunk = chunkOf('user', true);

function readUpdate(params: unknown, drop: Drop): ReturnType<Reader> {
  const given = object(params, drop);
  const update = object(given?.update, drop);
  const kind = update?.sessionUpdate;
  const read =
    kind === 'user_message_chunk'
      ? 'origin' in ourPart(given)
        ? userChunk
        : hearsayChunk
      : UPDATES.get(kind as string);
  const event = read?.(update, drop);
  if (event === undefined) {
    drop(given?.update);
  }
  return event;
}

function ourPart(params: Fields | undefined): Fields {
  return object(object(params?._meta, ignore)?.[META_KEY], ignore) ?? {};
}

const terminal = { terminalId: name };

const remoteRef: Shape<IGitRemoteRef> = fields({
  type: orElse(oneOf('git'), 'git' as const),
  url: text,
  branch: text,
  revision: text
});

/** The messages of our server, by their methods. */
const OURS = new Map<string, Reader>([
  [
    Method.promptContext,
    reads(fields({ text }), found => ({ type: 'context', ...found }))
  ],
  [
    Method.state,
    reads(
      fields(
        { state: oneOf('idle', 'running', 'disconnected', 'closed') },
        {
          time: text,
          stopReason: text,
          error: fields({ message: text }, { stderr: list(text) })
        }
      ),
      change => ({ type: 'state', change })
    )
  ],
  [
    Method.restored,
    reads(
      fields({ how: orElse(text, ''), message: orElse(text, '') }),
      ({ how, message }) => ({
        type: 'restored',
        isNew: how === 'new',
        message
      })
    )
  ],
  [Method.notice, reads(notice, notice => ({ type: 'notice', notice }))],
  [
    Method.modelChanged,
    reads(fields({ modelId: text }), ({ modelId }) => ({
      type: 'model',
      id: modelId
    }))
  ],
  [
    Method.servers,
    reads(
      fields({
        servers: list(
          fields(
            { name: orElse(text, ''), state: text },
            { type: text, message: text }
          )
        )
      }),
      found => ({ type: 'servers', ...found })
    )
  ],
  [
    Method.terminalCreated,
    reads(fields(terminal, { name: text }), ({ terminalId: id, name }) => ({
      type: 'terminal',
      id,
      name
    }))
  ],
  [
    Method.terminalOutput,
    reads(fields({ ...terminal, data: text }), ({ terminalId: id, data }) => ({
      type: 'printed',
      id,
      data
    }))
  ],
  [
    Method.terminalExit,
    reads(
      fields({ ...terminal, exitStatus: orElse(exit, {}) }),
      ({ terminalId: id, exitStatus }) => ({
        type: 'exited',
        id,
        exit: exitStatus
      })
    )
  ],
  [
    Method.permissionResolved,
    (params, drop) => {
      const found = fields(
        {},
        {
          request: fields({ method: text }, { params: anything }),
          outcome: anything
        }
      )(params, drop);
      // A question that is not worth a row is only resolved.
      return found?.request
        ? {
            type: 'answer',
            question: decodeQuestion(
              found.request.method,
              found.request.params,
              drop
            ),
            answer: decodeAnswer(found.outcome)
          }
        : null;
    }
  ],
  [
    Method.permissionDecided,
    reads(
      fields(
        {
          by: orElse(text, ''),
          decision: orElse(text, ''),
          subject: orElse(text, '')
        },
        { toolCallId: anyOf<string | number>(text, count) }
      ),
      ({ toolCallId, ...ruled }) => ({
        type: 'ruled',
        ruled: {
          ...ruled,
          toolCallId: toolCallId === undefined ? undefined : String(toolCallId)
        }
      })
    )
  ],
  [
    Method.remoteResult,
    reads(
      fields(
        {
          number: amount,
          target: remoteRef,
          state: oneOf(
            'there',
            'fetching',
            'ready',
            'failed',
            'checkedOut',
            'merged',
            'picked',
            'discarded'
          )
        },
        { message: text, undo: anything }
      ),
      result => ({ type: 'result', result })
    )
  ],
  [
    Method.fileChanged,
    reads(
      fields({ path: text }, { oldText: text, newText: text }),
      changed => ({
        type: 'file',
        changed
      })
    )
  ],
  [
    Method.changeDecided,
    reads(
      fields({
        change: text,
        parts: list(text),
        decision: oneOf('keep', 'undo', 'redo')
      }),
      decided => ({ type: 'decided', decided })
    )
  ],
  [Method.toolRecord, reads(toolRecord, record => ({ type: 'record', record }))]
]);

/** Read a message of a session; never throws. */
export function decodeMessage(method: string, params: unknown): IDecoded {
  const dropped: unknown[] = [];
  const drop = (part: unknown): void => {
    dropped.push(part);
  };
  if (method === Method.sessionUpdate) {
    return { event: readUpdate(params, drop) ?? null, dropped };
  }
  const read = OURS.get(method);
  if (!read) {
    // A later version of our server may tell more.
    return { event: null, dropped };
  }
  const event = read(params, drop);
  if (event === undefined) {
    drop(params);
  }
  return { event: event ?? null, dropped };
}
