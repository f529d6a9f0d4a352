// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type {
  AvailableCommand,
  PromptCapabilities,
  SessionModeState
} from '@agentclientprotocol/sdk';

import type { SessionEvent } from '../decode/messages';
import type { IConfigOption, IModelState, ISetup } from '../decode/setup';
import type { IMcpServer, IUsage } from '../protocol';

/** What is known of a session besides its conversation: only the latest counts. */
export class SessionFacts {
  get title(): string {
    return this._title;
  }

  get commands(): readonly AvailableCommand[] {
    return this._setup.availableCommands ?? [];
  }

  get modes(): SessionModeState | undefined {
    return this._setup.modes;
  }

  /** From agents that do not offer models as an option. */
  get models(): IModelState | undefined {
    return this._setup.models;
  }

  get configOptions(): readonly IConfigOption[] {
    return this._setup.configOptions ?? [];
  }

  /** What the agent takes besides text and links. */
  get promptCapabilities(): PromptCapabilities {
    return this._setup.promptCapabilities ?? {};
  }

  /** The MCP servers that the agent was given, or could not be. */
  get servers(): readonly IMcpServer[] {
    return this._servers;
  }

  /** How full the agent's context window is, if it tells. */
  get usage(): IUsage | null {
    return this._usage;
  }

  /** Take over what the agent offers: its updates only tell the changes. */
  setUp(setup: ISetup): void {
    this._setup = { ...this._setup, ...setup };
  }

  /** Apply an event, if it is about one of these. */
  apply(event: SessionEvent): void {
    const { modes, models } = this._setup;
    switch (event.type) {
      case 'title':
        this._title = event.title;
        break;
      case 'commands':
        this.setUp({ availableCommands: event.commands });
        break;
      case 'mode':
        if (modes) {
          this.setUp({ modes: { ...modes, currentModeId: event.id } });
        }
        break;
      case 'model':
        if (models) {
          this.setUp({ models: { ...models, currentModelId: event.id } });
        }
        break;
      case 'options':
        this.setUp({ configOptions: event.options });
        break;
      case 'servers':
        this._servers = event.servers;
        break;
      case 'usage':
        // The costs are not told every time.
        this._usage = { ...this._usage, ...event.usage };
        break;
    }
  }

  private _title = '';
  private _setup: ISetup = {};
  private _servers: readonly IMcpServer[] = [];
  private _usage: IUsage | null = null;
}
