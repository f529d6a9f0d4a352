// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { Message } from '@lumino/messaging';

import { remoteWords } from '../remote/words';
import type { ISessionsContext } from '../sessions/context';
import { statusOf } from '../sessions/list';
import { agentIcon, remoteIcon } from '../ui/icons';
import { LazyWidget } from '../ui/lazy';
import type { SessionWidget } from './tabwidget';

/** One session in the main area; its tab tells what becomes of it. */
export class SessionTab extends LazyWidget<SessionWidget> {
  constructor(
    private readonly _context: ISessionsContext,
    readonly sessionId: string
  ) {
    super(_context.trans);
    const { sessions } = _context;
    this.title.icon = agentIcon;
    this.title.closable = true;
    sessions.setInMain(sessionId, true);
    sessions.list.changed.connect(this._onList, this);
    this._onList();
    // A tab that is not in front wants to know, too, what to say.
    sessions.connection.connect();
  }

  override dispose(): void {
    if (!this.isDisposed) {
      const { sessions } = this._context;
      sessions.attention.look(this, null);
      sessions.setInMain(this.sessionId, false);
      super.dispose();
    }
  }

  protected async create(): Promise<SessionWidget> {
    const { SessionWidget } = await import('./tabwidget');
    return new SessionWidget(this._context, this.sessionId);
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    this._look();
  }

  protected override onAfterShow(_: Message): void {
    this._look();
  }

  protected override onAfterHide(_: Message): void {
    this._look();
  }

  private _look(): void {
    this._context.sessions.attention.look(
      this,
      this.isVisible ? this.sessionId : null
    );
  }

  private _onList(): void {
    const { sessions, trans } = this._context;
    const session = sessions.list.get(this.sessionId);
    if (!session && sessions.list.isLoaded) {
      // It was deleted, perhaps in another window.
      (this.parent ?? this).dispose();
      return;
    }
    const status = session ? statusOf(session) : 'ready';
    const label = session?.title || trans.__('Session');
    const words: Partial<Record<typeof status, string>> = {
      waiting: trans.__('%1 (waits for you)', label),
      running: trans.__('%1 (running)', label)
    };
    const remote = session?.remote;
    this.title.label = label;
    this.title.icon = remote ? remoteIcon : agentIcon;
    this.title.caption = [
      words[status] ?? label,
      ...(remote ? [remoteWords(remote, trans)] : [])
    ].join(' · ');
    this.title.className = `jp-acp-Tab jp-acp-mod-${status}`;
  }
}
