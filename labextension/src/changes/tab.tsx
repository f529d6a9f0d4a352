// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { ReactWidget, editIcon } from '@jupyterlab/ui-components';
import { Panel } from '@lumino/widgets';
import * as React from 'react';

import { ChatContext, type IChatContext } from '../ui/context';
import type { INamedChange } from './changes';
import { ChangesContext, type IReviewed } from './context';
import { ChangePage } from './page';
import { type INotebooks, reviewOf } from './review';

import '../../style/chat.css';

/** A change in a tab of its own: the whole text, or a notebook's cells. */
export class ChangeWidget extends Panel {
  constructor(
    private readonly _context: IChatContext,
    session: IReviewed,
    change: INamedChange
  ) {
    super();
    const { trans } = _context;
    const { path } = change;
    this.addClass('jp-acp-ChangeWidget');
    this.title.label = trans.__('Changes: %1', path.split('/').at(-1) ?? path);
    this.title.caption = path;
    this.title.icon = editIcon;
    this.title.closable = true;
    this.addWidget(
      ReactWidget.create(
        <ChatContext.Provider value={_context}>
          <ChangesContext.Provider value={{ session }}>
            <ChangePage change={change} />
          </ChangesContext.Provider>
        </ChatContext.Provider>
      )
    );
    const { notebooks } = reviewOf(change);
    if (notebooks) {
      void this._showNotebooks(notebooks);
    }
  }

  private async _showNotebooks(notebooks: INotebooks): Promise<void> {
    try {
      const { showNotebooks } = await import('./notebooks');
      const widget = await showNotebooks(notebooks, this._context);
      if (this.isDisposed) {
        widget.dispose();
      } else {
        this.addWidget(widget);
      }
    } catch (error) {
      this.node.append(
        this._context.trans.__(
          'The notebook could not be shown: %1',
          String(error)
        )
      );
    }
  }
}
