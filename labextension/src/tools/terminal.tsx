// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Button, terminalIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import { useChat } from '../ui/context';
import { PrintedText } from '../ui/printed';
import type { TerminalOutput } from './terminals';

interface ITerminalProps {
  /** Absent until something is known of it. */
  terminal: TerminalOutput | undefined;
}

/** What a command printed, as a terminal would show it. */
export function Terminal({ terminal }: ITerminalProps): JSX.Element {
  const { trans } = useChat();
  const { exitCode, signal } = terminal?.exit ?? {};
  return (
    <>
      <PrintedText
        label={trans.__('Terminal output')}
        output={terminal?.output}
      />
      {terminal?.name && <OpenTerminal name={terminal.name} />}
      {(exitCode || signal) && (
        <span className="jp-acp-Exit">
          {signal
            ? trans.__('Ended by signal %1', signal)
            : trans.__('Exit status %1', String(exitCode))}
        </span>
      )}
    </>
  );
}

/** The way from a command that runs to a tab in which to watch and type. */
function OpenTerminal({ name }: { name: string }): JSX.Element | null {
  const { terminals, trans } = useChat();
  if (!terminals.isAvailable) {
    return null;
  }
  return (
    <Button
      minimal
      small
      className="jp-acp-OpenTerminal"
      title={trans.__('Watch the command in a terminal tab and type input')}
      aria-label={trans.__('Open in terminal')}
      onClick={() => void terminals.open(name)}
    >
      <terminalIcon.react tag="span" />
      {trans.__('Open in terminal')}
    </Button>
  );
}
