// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { TranslationBundle } from '@jupyterlab/translation';
import type { Message } from '@lumino/messaging';
import { PanelLayout, Widget } from '@lumino/widgets';

/** Costs the page almost nothing: its content is loaded when it is first shown. */
export abstract class LazyWidget<T extends Widget> extends Widget {
  constructor(private readonly _trans: TranslationBundle) {
    super();
    this.addClass('jp-acp-Panel');
    this.layout = new PanelLayout();
  }

  protected abstract create(): Promise<T>;

  protected load(): Promise<T> {
    this._content ??= this._create();
    return this._content;
  }

  protected override onBeforeShow(_: Message): void {
    void this.load();
  }

  protected override onAfterAttach(_: Message): void {
    if (this.isVisible) {
      void this.load();
    }
  }

  protected override onActivateRequest(_: Message): void {
    void this.load().then(content => content.activate());
  }

  private async _create(): Promise<T> {
    try {
      const content = await this.create();
      (this.layout as PanelLayout).addWidget(content);
      return content;
    } catch (error) {
      // A reload of the page after an upgrade is the usual cure: try again.
      this._content = null;
      this.node.textContent = this._trans.__(
        'The chat could not be loaded: %1. Reload the page to try again.',
        (error as Error).message
      );
      throw error;
    }
  }

  private _content: Promise<T> | null = null;
}
