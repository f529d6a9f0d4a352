// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type {
  PermissionOption,
  ToolCallContent
} from '@agentclientprotocol/sdk';

import { META_KEY, Method } from '../protocol';
import { toolContent } from './content';
import {
  type Drop,
  type Shape,
  amount,
  anyOf,
  dictionary,
  fields,
  flag,
  ignore,
  list,
  object,
  oneOf,
  orElse,
  text,
  wordOr
} from './shapes';
import { type IToolUpdate, askedCall } from './toolcall';

/** An answer that can be chosen; later versions may add kinds. */
export interface IPermissionOption extends Omit<PermissionOption, 'kind'> {
  kind: string;
}

/** Facts about a file that is named in a question. */
export interface INamedFile {
  path: string;
  /** The file itself, if the path is a link or goes through one. */
  leadsTo?: string;
  /** True if it is in none of the folders of the session. */
  isOutside?: boolean;
  /** What it would do once it is written; see `protected_files.py` of the server. */
  risk?: string;
}

/** What the server adds to a question. */
export interface IExplained {
  /** The tool of ours that the question is certainly about. */
  tool?: string;
  title?: string;
  content?: ToolCallContent[];
  /** The meaning of a lasting answer; agents keep their own. */
  rule?: { kind: string; match: string };
  files?: INamedFile[];
  /** True if the same stands in the content, for clients that do not know us. */
  isWarned?: boolean;
}

/** The agent asks whether it may do something. */
export interface IPermission {
  readonly kind: 'permission';
  /** Absent if the agent does not say what. */
  readonly call?: IToolUpdate;
  readonly options: readonly IPermissionOption[];
  readonly explained: IExplained;
}

/** One of the choices of a field. */
export interface IChoice {
  const: string;
  title?: string;
}

/** A field of a form. */
export interface IProperty {
  type?: 'string' | 'number' | 'integer' | 'boolean' | 'array';
  title?: string;
  description?: string;
  default?: string | number | boolean | string[];
  enum?: string[];
  oneOf?: IChoice[];
  items?: { enum?: string[]; anyOf?: IChoice[] };
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  format?: string;
  minItems?: number;
  maxItems?: number;
}

/** A form that the agent wants to be filled in. */
export interface IForm {
  title?: string;
  description?: string;
  properties: Record<string, IProperty>;
  required: string[];
}

/** The agent asks for values, or to visit a page. */
export interface IElicitation {
  readonly kind: 'elicitation';
  readonly mode: 'form' | 'url';
  readonly message: string;
  readonly url: string;
  readonly form: IForm;
}

export type Question = IPermission | IElicitation;

const option: Shape<IPermissionOption> = fields({
  optionId: text,
  name: orElse(text, ''),
  kind: orElse(text, '')
});

const explained: Shape<IExplained> = fields(
  {},
  {
    tool: text,
    title: text,
    content: list(toolContent),
    rule: fields({ kind: text, match: text }),
    files: list(
      fields({ path: text }, { leadsTo: text, isOutside: flag, risk: text })
    ),
    isWarned: flag
  }
);

const permission = fields(
  { options: orElse(list(option), []) },
  { toolCall: askedCall, _meta: object }
);

const number: Shape<number> = value =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;

const choices = list(fields({ const: text }, { title: text }));

const property: Shape<IProperty> = fields(
  {},
  {
    type: oneOf('string', 'number', 'integer', 'boolean', 'array'),
    title: text,
    description: text,
    default: anyOf<string | number | boolean | string[]>(
      text,
      number,
      flag,
      list(text)
    ),
    enum: list(text),
    oneOf: choices,
    items: fields({}, { enum: list(text), anyOf: choices }),
    minimum: number,
    maximum: number,
    minLength: amount,
    maxLength: amount,
    pattern: text,
    format: text,
    minItems: amount,
    maxItems: amount
  }
);

const form: Shape<IForm> = fields(
  {
    properties: orElse<Record<string, IProperty>>(dictionary(property), {}),
    required: orElse<string[]>(list(text), [])
  },
  { title: text, description: text }
);

const elicitation = fields({
  mode: orElse(wordOr<'form' | 'url'>('form', 'form', 'url'), 'form'),
  message: orElse(text, ''),
  url: orElse(text, ''),
  requestedSchema: orElse<IForm>(form, { properties: {}, required: [] })
});

/** Read a question of an agent; one that cannot be read asks for nothing. */
export function decodeQuestion(
  method: string,
  params: unknown,
  drop: Drop
): Question {
  if (method === Method.elicit) {
    const { requestedSchema: form, ...rest } = elicitation(
      object(params, drop) ?? {},
      drop
    )!;
    return { kind: 'elicitation', ...rest, form };
  }
  const found = permission(params, drop);
  const meta = found?._meta?.[META_KEY];
  return {
    kind: 'permission',
    call: found?.toolCall,
    options: found?.options ?? [],
    explained: explained(meta, drop) ?? {}
  };
}

/** How a question was answered; nothing if it was not. */
export interface IAnswer {
  /** The option that was chosen. */
  readonly optionId?: string;
  /** What was done with a form. */
  readonly action?: string;
}

const chosen = fields({ outcome: oneOf('selected'), optionId: text });

/** Read an answer, with or without the envelope that clients put around it. */
export function decodeAnswer(answer: unknown): IAnswer {
  const given = object(answer, ignore);
  const { optionId } =
    chosen(given, ignore) ?? chosen(given?.outcome, ignore) ?? {};
  return { optionId, action: text(given?.action, ignore) };
}
