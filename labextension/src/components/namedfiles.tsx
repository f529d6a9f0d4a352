// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { INamedFile } from '../protocol';
import { useChat } from './context';
import { Visible } from './visible';

/** What a person should know of the files in a question, and its names do not tell. */
export function NamedFiles({
  files
}: {
  files: readonly INamedFile[];
}): JSX.Element {
  const { trans } = useChat();
  return (
    <>
      {files.map((file, index) => (
        <div key={index} className="jp-acp-Card-warning" role="alert">
          <strong>
            <Visible text={file.path} />
          </strong>
          {file.leadsTo && (
            <p>
              {trans.__('It is a link, and leads here:')}{' '}
              <code>
                <Visible text={file.leadsTo} />
              </code>
            </p>
          )}
          {file.isOutside && (
            <p>{trans.__('It is outside the folders of this session.')}</p>
          )}
          {file.risk && <p>{riskWords(file.risk, trans)}</p>}
        </div>
      ))}
    </>
  );
}

/** What a file does without being asked once it is written. */
function riskWords(risk: string, trans: TranslationBundle): string {
  switch (risk) {
    case 'git':
      return trans.__(
        'Git runs programs that its own files name: hooks, filters, aliases.'
      );
    case 'automation':
      return trans.__(
        'What this file names is run with each commit, here or elsewhere.'
      );
    case 'jupyter':
      return trans.__(
        'Jupyter runs or obeys this file when a server or a kernel starts.'
      );
    case 'python':
      return trans.__('Python runs this file at every start.');
    case 'shell':
      return trans.__('Shells run this file at every start.');
    case 'editor':
      return trans.__('Editors run tasks and programs that this file names.');
    case 'agent':
      return trans.__(
        'Agents start programs that this file names, and take their orders from it.'
      );
    case 'login':
      return trans.__(
        'This file decides who may log in as you, or what runs when you do.'
      );
    case 'packages':
      return trans.__(
        'This file decides where programs are installed from, and runs some.'
      );
    default:
      return trans.__('This file can make other programs do something.');
  }
}
