// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { ToolCallContent } from '@agentclientprotocol/sdk';

import type { IExit } from '../decode/toolcall';
import { AnsiText } from '../ui/ansi';

/** A command, as far as it was told of. */
export class TerminalOutput {
  /** What JupyterLab calls it, while it runs and can be opened as a tab. */
  name?: string;

  /** Absent while the command runs. */
  exit?: IExit;

  /** What it printed. */
  readonly output = new AnsiText();
}

/** Something that shows what commands print, and says when that has changed. */
interface IHolder {
  revision: number;
  readonly call: {
    readonly content: readonly ToolCallContent[];
    readonly terminals: Record<string, TerminalOutput>;
  };
}

/** The commands that the server runs for an agent, and where each is shown. */
export class Terminals {
  created(id: string, name: string | undefined): void {
    this._change(id, terminal => {
      terminal.name = name;
    });
  }

  printed(id: string, data: string): void {
    this._change(id, terminal => terminal.output.append(data));
  }

  exited(id: string, exit: IExit): void {
    this._change(id, terminal => {
      terminal.exit = exit;
      terminal.name = undefined;
    });
  }

  /** A server that was killed could not tell how its commands ended. */
  leave(): void {
    for (const [id, terminal] of this._terminals) {
      if (terminal.name !== undefined) {
        this._change(id, each => (each.name = undefined));
      }
    }
  }

  /** Give a tool call the output of the terminals that it names. */
  show(holder: IHolder): void {
    for (const part of holder.call.content) {
      if (part.type === 'terminal') {
        holder.call.terminals[part.terminalId] ??= this._get(part.terminalId);
        this._shownIn.set(part.terminalId, holder);
      }
    }
  }

  private _change(
    id: string,
    change: (terminal: TerminalOutput) => void
  ): void {
    change(this._get(id));
    const holder = this._shownIn.get(id);
    if (holder) {
      holder.revision++;
    }
  }

  /** A command may print before a tool call says where that is shown. */
  private _get(id: string): TerminalOutput {
    let terminal = this._terminals.get(id);
    if (!terminal) {
      terminal = new TerminalOutput();
      this._terminals.set(id, terminal);
    }
    return terminal;
  }

  private readonly _terminals = new Map<string, TerminalOutput>();
  private readonly _shownIn = new Map<string, IHolder>();
}
