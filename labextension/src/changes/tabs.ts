// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { JupyterFrontEnd } from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';

import type { IChatContext } from '../ui/context';
import type { INamedChange } from './changes';
import type { IChangeViewer, IReviewed } from './context';

/** Shows changes as tabs of the main area, each of them once. */
export class ChangeTabs implements IChangeViewer {
  constructor(
    private readonly _shell: JupyterFrontEnd.IShell,
    private readonly _context: IChatContext
  ) {}

  open(session: IReviewed, change: INamedChange): void {
    const { trans } = this._context;
    this._show(session, change).catch((error: Error) =>
      Notification.error(
        trans.__('The change could not be shown: %1', error.message)
      )
    );
  }

  private async _show(session: IReviewed, change: INamedChange): Promise<void> {
    const { ChangeWidget } = await import('./tab');
    const id = `jp-acp-change-${session.id}-${change.key}`;
    if (![...this._shell.widgets('main')].some(each => each.id === id)) {
      const widget = new ChangeWidget(this._context, session, change);
      widget.id = id;
      this._shell.add(widget, 'main');
    }
    this._shell.activateById(id);
  }
}
