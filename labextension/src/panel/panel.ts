// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { Message } from '@lumino/messaging';

import type { IChatPanel } from '../api/chat';
import type { ISessionsContext } from '../sessions/context';
import { agentIcon } from '../ui/icons';
import { LazyWidget } from '../ui/lazy';
import type { PanelModel } from './model';
import type { ChatWidget } from './widget';

/** The side panel; its icon tells how many sessions wait for the person. */
export class AcpPanel extends LazyWidget<ChatWidget> implements IChatPanel {
  constructor(
    readonly context: ISessionsContext,
    readonly model: PanelModel
  ) {
    super(context.trans);
    const { sessions, trans } = context;
    this.id = 'jp-acp-panel';
    this.title.icon = agentIcon;
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', trans.__('Agents'));
    sessions.list.changed.connect(this._updateTitle, this);
    sessions.currentChanged.connect(this._look, this);
    this._updateTitle();
  }

  /** Start a session and show it. */
  async newSession(agent?: string): Promise<void> {
    await this._recover();
    await this.model.newSession(agent);
  }

  /** Show a session that exists. */
  async openSession(id: string): Promise<void> {
    await this._recover();
    await this.model.openSession(id);
  }

  /** Show the page from which a remote session starts. */
  async newRemoteSession(wanted: IChatPanel.IRemote): Promise<void> {
    await this._recover();
    this.model.dismissFailure();
    this.model.remote.open(wanted);
  }

  /** Put something into the prompt, of a new session if none is open. */
  async ask(question: IChatPanel.IQuestion): Promise<void> {
    await this._recover();
    await this.model.ask(question);
  }

  protected override onAfterShow(_: Message): void {
    this._look();
  }

  protected override onAfterHide(_: Message): void {
    this._look();
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    this._look();
  }

  protected async create(): Promise<ChatWidget> {
    const { ChatWidget } = await import('./widget');
    return new ChatWidget(this.context, this.model);
  }

  private async _recover(): Promise<void> {
    (await this.load()).recover();
  }

  private _look(): void {
    const { attention, current } = this.context.sessions;
    attention.look(this, this.isVisible ? (current?.id ?? null) : null);
  }

  private _updateTitle(): void {
    const { sessions, trans } = this.context;
    const count = sessions.attention.waiting;
    // JupyterLab keeps an id there, by which it finds the panel again.
    this.title.dataset = {
      ...this.title.dataset,
      'acp-waiting': count ? String(count) : ''
    };
    this.title.caption = count
      ? trans._n(
          'Agents: one session waits for you',
          'Agents: %1 sessions wait for you',
          count
        )
      : trans.__('Agents');
  }
}
