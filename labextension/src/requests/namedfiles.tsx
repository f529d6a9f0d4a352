// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { INamedFile } from '../decode/questions';
import { useChat } from '../ui/context';
import { Visible } from '../ui/visible';

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
              {trans.__('This is a link to:')}{' '}
              <code>
                <Visible text={file.leadsTo} />
              </code>
            </p>
          )}
          {file.isOutside && (
            <p>
              {trans.__('This file is outside the folders of this session.')}
            </p>
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
        'Git runs programs that this file can define: hooks, filters, aliases.'
      );
    case 'automation':
      return trans.__(
        'The commands in this file run with each commit, here or on another machine.'
      );
    case 'jupyter':
      return trans.__(
        'Jupyter runs or reads this file when a server or a kernel starts.'
      );
    case 'python':
      return trans.__('Python runs this file at every start.');
    case 'shell':
      return trans.__('Shells run this file at every start.');
    case 'editor':
      return trans.__('Editors run tasks and programs from this file.');
    case 'agent':
      return trans.__(
        'Agents start programs from this file and follow its instructions.'
      );
    case 'login':
      return trans.__(
        'This file controls who can log in as you, or which programs run when you log in.'
      );
    case 'packages':
      return trans.__(
        'This file controls where packages are installed from, and can run programs.'
      );
    default:
      return trans.__('This file can make other programs run commands.');
  }
}
