// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import { useChat } from '../ui/context';
import { useRender } from '../ui/hooks';
import type { IChoice } from './choices';
import type { RemoteSetup } from './setup';

/** What the session is to begin with, where there is something to choose. */
export function RemoteChoices({ setup }: { setup: RemoteSetup }): JSX.Element {
  const { trans } = useChat();
  const render = useRender();
  const name = React.useId();
  const { choices, choice } = setup;
  if (choices.length === 1 && choice) {
    return (
      <p className="jp-acp-Hint">
        {trans.__(
          'The remote has all of your work. The agent starts from the same state.'
        )}
      </p>
    );
  }
  return (
    <fieldset className="jp-acp-Field jp-acp-Remote-choices">
      <legend>{trans.__('Start from')}</legend>
      {!choice && choices.some(({ obstacle }) => !obstacle) && (
        <small>
          {trans.__(
            'There are untracked files. Choose whether to push them to the remote.'
          )}
        </small>
      )}
      {choices.map(each => (
        <div key={each.way} className="jp-acp-Remote-choice">
          <input
            type="radio"
            id={`${name}-${each.way}`}
            name={name}
            checked={each === choice}
            disabled={each.obstacle !== null}
            aria-describedby={`${name}-${each.way}-detail`}
            onChange={() => {
              setup.choose(each.way);
              render();
            }}
          />
          <label htmlFor={`${name}-${each.way}`}>{titleOf(each, trans)}</label>
          <small id={`${name}-${each.way}-detail`}>
            {detailOf(each, trans)}
          </small>
        </div>
      ))}
      {choices.some(({ way, obstacle }) => way !== 'there' && !obstacle) && (
        <small>
          {trans.__(
            'The push creates a scratch branch on the remote, which is deleted with the session. Your branches and files are not changed.'
          )}
        </small>
      )}
    </fieldset>
  );
}

type Trans = ReturnType<typeof useChat>['trans'];

function titleOf({ way, commits, files }: IChoice, trans: Trans): string {
  if (way === 'there') {
    return trans.__('Current state of the remote');
  }
  const work = workWords(commits, files, trans);
  return work
    ? trans.__('Push %1 first', work)
    : trans.__('Push the branch first');
}

function detailOf(choice: IChoice, trans: Trans): string {
  const { commitsLeft, filesLeft, newFiles, obstacle } = choice;
  if (obstacle === 'nothingThere') {
    return trans.__('The remote has no commit of this branch yet.');
  }
  if (obstacle === 'cannotPush') {
    return trans.__('Pushing is not possible; see the problems above.');
  }
  const left = workWords(commitsLeft, filesLeft, trans);
  if (left) {
    return trans.__('Does not include %1.', left);
  }
  return newFiles > 0
    ? trans._n(
        'Includes everything, also %1 untracked file.',
        'Includes everything, also %1 untracked files.',
        newFiles
      )
    : trans.__('Includes everything.');
}

/** What is only here; empty if nothing is. */
function workWords(commits: number, files: number, trans: Trans): string {
  const parts = [
    ...(commits > 0 ? [trans._n('%1 commit', '%1 commits', commits)] : []),
    ...(files > 0 ? [fileWords(files, trans)] : [])
  ];
  return parts.length > 1 ? trans.__('%1 and %2', ...parts) : (parts[0] ?? '');
}

/** Changed files and new ones, each of them. */
export function fileWords(count: number, trans: Trans): string {
  return trans._n('%1 uncommitted file', '%1 uncommitted files', count);
}
