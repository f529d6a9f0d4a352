// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { ReactWidget, editIcon } from '@jupyterlab/ui-components';
import { Panel } from '@lumino/widgets';
import * as React from 'react';

import { ChangePage } from '../components/changepage';
import { ChatContext, type IChatContext } from '../components/context';
import { SessionContext } from '../components/session';
import type { INamedChange } from '../model/changes';
import { reviewOf } from '../model/review';
import type { SessionModel } from '../model/session';

import '../../style/chat.css';

/** A change in a tab of its own: the whole text, or a notebook's cells. */
export class ChangeWidget extends Panel {
  constructor(
    private readonly _context: IChatContext,
    session: SessionModel,
    private readonly _change: INamedChange
  ) {
    super();
    const { trans } = _context;
    const { path } = _change;
    this.addClass('jp-acp-ChangeWidget');
    this.title.label = trans.__('Changes: %1', path.split('/').at(-1) ?? path);
    this.title.caption = path;
    this.title.icon = editIcon;
    this.title.closable = true;
    this.addWidget(
      ReactWidget.create(
        <ChatContext.Provider value={_context}>
          <SessionContext.Provider value={session}>
            <ChangePage change={_change} />
          </SessionContext.Provider>
        </ChatContext.Provider>
      )
    );
    if (reviewOf(_change).isNotebook) {
      void this._showNotebooks();
    }
  }

  private async _showNotebooks(): Promise<void> {
    const { oldText, newText } = this._change;
    try {
      const { showNotebooks } = await import('../review/notebooks');
      const widget = await showNotebooks(oldText, newText, this._context);
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
