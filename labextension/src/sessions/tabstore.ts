// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IStateDB } from '@jupyterlab/statedb';

/** A tracker of tabs removes what it finds in its own namespace and does not know. */
const OPEN = 'jupyter-acp-bridge-panel:open-sessions';

/** What was open in the side panel. */
export interface ISavedTabs {
  readonly tabs: readonly string[];
  readonly current: string | null;
  /**
   * The agent to start with: a workspace that was made for others has no session
   * yet. It is not saved again, so that this happens once.
   */
  readonly agent: string | null;
}

/** Remembers what the side panel has open, over reloads and in the workspace. */
export class TabStore {
  constructor(
    private readonly _storage?: Storage,
    private readonly _state?: IStateDB
  ) {}

  /** What this window had open when it was reloaded. */
  reloaded(): ISavedTabs {
    return decoded(this._stored());
  }

  /** What this window had open, or else the workspace. */
  async saved(): Promise<ISavedTabs> {
    // The workspace is saved with a delay, which a quick reload would beat.
    return decoded(this._stored() ?? (await this._state?.fetch(OPEN)));
  }

  save(tabs: readonly string[], current: string | null): void {
    const saved = { tabs: [...tabs], current };
    this._storage?.setItem(OPEN, JSON.stringify(saved));
    void this._state?.save(OPEN, saved);
  }

  private _stored(): unknown {
    const text = this._storage?.getItem(OPEN);
    return text ? JSON.parse(text) : undefined;
  }
}

function decoded(saved: unknown): ISavedTabs {
  const { tabs, current, agent } = (saved ?? {}) as Record<string, unknown>;
  return {
    tabs: Array.isArray(tabs)
      ? tabs.filter((id): id is string => typeof id === 'string')
      : [],
    current: typeof current === 'string' ? current : null,
    agent: typeof agent === 'string' ? agent : null
  };
}
