// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Button, terminalIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import { type ITerminalOutput, plain } from '../model/toolcall';
import { useChat } from './context';

interface ITerminalProps {
  /** Absent until something is known of it. */
  terminal: ITerminalOutput | undefined;
}

/** What a command printed, without the codes that colour a terminal. */
export function Terminal({ terminal }: ITerminalProps): JSX.Element {
  const { trans } = useChat();
  const node = React.useRef<HTMLPreElement>(null);
  const output = plain(terminal?.output ?? '');
  React.useLayoutEffect(() => {
    if (node.current) {
      node.current.scrollTop = node.current.scrollHeight;
    }
  }, [output]);
  const { exitCode, signal } = terminal?.exit ?? {};
  return (
    <>
      <pre
        ref={node}
        className="jp-acp-Terminal"
        tabIndex={0}
        role="group"
        aria-label={trans.__('Terminal output')}
      >
        {output}
      </pre>
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
      title={trans.__('Watch the command in a terminal tab, and type into it')}
      aria-label={trans.__('Open in terminal')}
      onClick={() => void terminals.open(name)}
    >
      <terminalIcon.react tag="span" />
      {trans.__('Open in terminal')}
    </Button>
  );
}
