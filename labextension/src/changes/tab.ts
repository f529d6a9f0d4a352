// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { editIcon } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';
import { Panel } from '@lumino/widgets';

import type { IChatContext } from '../ui/context';
import type { IFoundChange } from './context';

/** A change in the main area, which is looked for when it is first shown. */
export class ChangeTab extends Panel {
  constructor(private readonly _options: ChangeTab.IOptions) {
    super();
    const { sessionId, changeKey, path } = _options;
    this.id = `jp-acp-change-${sessionId}-${changeKey}`;
    this.addClass('jp-acp-ChangeWidget');
    this.title.icon = editIcon;
    this.title.closable = true;
    this._setPath(path ?? '');
  }

  get sessionId(): string {
    return this._options.sessionId;
  }

  get changeKey(): string {
    return this._options.changeKey;
  }

  /** Empty if it is not known yet. */
  get path(): string {
    return this.title.caption;
  }

  protected override onBeforeShow(_: Message): void {
    void this._load();
  }

  protected override onAfterAttach(_: Message): void {
    if (this.isVisible) {
      void this._load();
    }
  }

  private async _load(): Promise<void> {
    if (this._isLoaded) {
      return;
    }
    this._isLoaded = true;
    this.node.textContent = '';
    const { context, find } = this._options;
    try {
      const [{ showChange }, found] = await Promise.all([
        import('./tabcontent'),
        find()
      ]);
      if (!found) {
        this.dispose();
      } else if (!this.isDisposed) {
        this._setPath(found.change.path);
        await showChange(this, found, context);
      }
    } catch (error) {
      // Whoever comes back to the tab tries again.
      this._isLoaded = false;
      this.node.textContent = context.trans.__(
        'The change could not be shown: %1',
        (error as Error).message
      );
    }
  }

  private _setPath(path: string): void {
    const { trans } = this._options.context;
    const name = path.split('/').at(-1);
    this.title.label = name
      ? trans.__('Changes: %1', name)
      : trans.__('Changes');
    this.title.caption = path;
  }

  private _isLoaded = false;
}

export namespace ChangeTab {
  export interface IOptions {
    context: IChatContext;
    sessionId: string;
    changeKey: string;
    /** For the title, until the change is there. */
    path?: string;
    /** Find the change; null if there is none any more. */
    find: () => Promise<IFoundChange | null>;
  }
}
