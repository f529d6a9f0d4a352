// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { PromptCapabilities } from '@agentclientprotocol/sdk';

import type { ISession } from '../api/sessions';
import type { Composer, PromptHistory } from './composer';

/** A session that takes messages. */
export interface IPromptSession extends ISession {
  readonly composer: Composer;
  /** True if the agent works on files that are elsewhere. */
  readonly isRemote: boolean;
  readonly transcript: {
    readonly facts: {
      readonly promptCapabilities: PromptCapabilities;
    };
  };
  /** The user's earlier messages. */
  readonly history: PromptHistory;
  /** Whether messages carry what a provider offers. */
  carries(id: string): boolean;
  /** Tell the person what went wrong. */
  report(problem: string): void;
}
