// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IRemoteInspection } from '../protocol';

/** What a remote session can begin with, the least of it first. */
export type Way = 'there' | 'commits' | 'everything';

/** Why a way cannot be gone. */
export type Obstacle = 'nothingThere' | 'cannotPush';

export interface IChoice {
  readonly way: Way;
  /** What is pushed first. */
  readonly commits: number;
  readonly files: number;
  /** How many of the files git does not know yet. */
  readonly newFiles: number;
  /** What the agent does not get to see. */
  readonly commitsLeft: number;
  readonly filesLeft: number;
  readonly obstacle: Obstacle | null;
}

/**
 * The ways that make a difference: there is nothing to choose where everything
 * is on the remote. Those that cannot be gone are there, too, to be explained.
 */
export function choicesFor(found: IRemoteInspection): IChoice[] {
  const { unpushed: commits, changeCount: files, ref, canPush } = found;
  const { newCount: newFiles } = found;
  const obstacle = canPush ? null : 'cannotPush';
  const choices: IChoice[] = [
    {
      way: 'there',
      commits: 0,
      files: 0,
      newFiles: 0,
      commitsLeft: commits,
      filesLeft: files,
      obstacle: ref ? null : 'nothingThere'
    }
  ];
  if (!found.pushed || !ref) {
    choices.push({
      way: 'commits',
      commits,
      files: 0,
      newFiles: 0,
      commitsLeft: 0,
      filesLeft: files,
      obstacle
    });
  }
  if (files > 0) {
    choices.push({
      way: 'everything',
      commits,
      files,
      newFiles,
      commitsLeft: 0,
      filesLeft: 0,
      obstacle
    });
  }
  return choices;
}

/**
 * The one that leaves out the least, of those that can be chosen. New files may
 * be anything, and keys as well: nobody but the user decides that they are
 * pushed, or left out.
 */
export function bestChoice(choices: readonly IChoice[]): IChoice | null {
  const best = choices.filter(({ obstacle }) => !obstacle).at(-1) ?? null;
  return best && best.newFiles > 0 ? null : best;
}
