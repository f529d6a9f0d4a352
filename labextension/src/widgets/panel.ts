// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { Message } from '@lumino/messaging';
import { PanelLayout, Widget } from '@lumino/widgets';

import type { IChatContext } from '../components/context';
import { agentIcon } from '../icons';
import type { ChatWidget } from './chat';

/**
 * The side panel. It costs the page almost nothing: the chat itself is loaded
 * when the panel is first shown.
 */
export class AcpPanel extends Widget {
  constructor(private readonly _options: AcpPanel.IOptions) {
    super();
    const { trans } = _options;
    this.id = 'jp-acp-panel';
    this.addClass('jp-acp-Panel');
    this.title.icon = agentIcon;
    this.title.caption = trans.__('Agents');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', trans.__('Agents'));
    this.layout = new PanelLayout();
  }

  /** Start a session and show it. */
  async newSession(agent?: string): Promise<void> {
    const chat = await this._load();
    await chat.newSession(agent);
  }

  protected override onBeforeShow(_: Message): void {
    void this._load();
  }

  protected override onAfterAttach(_: Message): void {
    if (this.isVisible) {
      void this._load();
    }
  }

  protected override onActivateRequest(_: Message): void {
    void this._load().then(chat => chat.activate());
  }

  private _load(): Promise<ChatWidget> {
    this._chat ??= this._create();
    return this._chat;
  }

  private async _create(): Promise<ChatWidget> {
    try {
      const { ChatWidget } = await import('./chat');
      const chat = new ChatWidget(this._options);
      (this.layout as PanelLayout).addWidget(chat);
      return chat;
    } catch (error) {
      // A reload of the page after an upgrade is the usual cure: try again.
      this._chat = null;
      this.node.textContent = this._options.trans.__(
        'The chat could not be loaded: %1. Reload the page to try again.',
        (error as Error).message
      );
      throw error;
    }
  }

  private _chat: Promise<ChatWidget> | null = null;
}

export namespace AcpPanel {
  export type IOptions = IChatContext;
}
