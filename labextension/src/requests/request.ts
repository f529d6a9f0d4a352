// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { Question } from '../decode/questions';
import type { ISessionInfo } from '../protocol';

/** A question of the agent that waits for the person. */
export interface IPendingRequest {
  readonly id: string;
  readonly question: Question;
  /** Parts of it that could not be read. */
  readonly dropped: readonly unknown[];
  answer(result: unknown): void;
}

/** A session whose agent may ask. */
export interface IAsking {
  readonly info: ISessionInfo;
  readonly requests: readonly IPendingRequest[];
  /** Let the view put the focus on the first question. */
  isCardWanted: boolean;
}
