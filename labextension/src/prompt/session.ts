// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type {
  AvailableCommand,
  PromptCapabilities
} from '@agentclientprotocol/sdk';

import type { Composer, IComposed } from './composer';

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
    /** The user's earlier messages. */
    readonly prompts: readonly string[];
  };
  /** Send a message, with the editor context if that is shared. */
  prompt(composed: IComposed, sharesContext: boolean): Promise<void>;
  /** Stop the turn. */
  cancel(): void;
  /** Tell the person what went wrong. */
  report(problem: string): void;
}
