// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type {
  AvailableCommand,
  PromptCapabilities
} from '@agentclientprotocol/sdk';

import type { Composer, PromptHistory } from './composer';

/** A session that takes messages. */
export interface IPromptSession {
  readonly composer: Composer;
  /** True if the agent works on files that are elsewhere. */
  readonly isRemote: boolean;
  readonly transcript: {
    readonly facts: {
      readonly commands: readonly AvailableCommand[];
      readonly promptCapabilities: PromptCapabilities;
    };
  };
  readonly id: string;
  /** The user's earlier messages. */
  readonly history: PromptHistory;
  /** Whether messages carry the editor context. */
  readonly sharesContext: boolean;
  /** Tell the person what went wrong. */
  report(problem: string): void;
}
