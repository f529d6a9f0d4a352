// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type {
  ToolCallContent,
  ToolCallLocation,
  ToolKind
} from '@agentclientprotocol/sdk';
import { Token } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import type { ComponentType } from 'react';

import type { ISession } from './sessions';

/** A tool call as far as its updates have told. */
export interface IToolCall {
  readonly toolCallId: string;
  readonly title: string;
  /** The tool's own name, from agents that tell it. */
  readonly toolName?: string;
  readonly kind: ToolKind;
  /** `ended`: its turn is over and the agent never said how it went. */
  readonly status: 'pending' | 'in_progress' | 'completed' | 'failed' | 'ended';
  readonly content: readonly ToolCallContent[];
  readonly locations: readonly ToolCallLocation[];
  readonly rawInput?: unknown;
  readonly rawOutput?: unknown;
}

export interface IToolRendererProps {
  call: IToolCall;
  session: ISession;
}

/** Draws what certain tool calls show. */
export interface IToolRenderer {
  readonly id: string;
  /** Renderers with a lower rank are asked first; those of this package have 100 and more. */
  readonly rank: number;
  matches(call: IToolCall): boolean;
  /** If it fails, the call is drawn as if it had not matched. */
  readonly Component: ComponentType<IToolRendererProps>;
}

/**
 * The renderers of tool calls in transcripts. What is asked for permission is
 * drawn by those of this package alone.
 */
export interface IToolRenderers {
  /** Add a renderer, until this is disposed. */
  add(renderer: IToolRenderer): IDisposable;
}

export const IToolRenderers = new Token<IToolRenderers>(
  'jupyter-acp-bridge:IToolRenderers',
  'The renderers of tool calls in the chat with agents.'
);
