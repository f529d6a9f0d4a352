// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { ReactWidget } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';
import * as React from 'react';

import { isOnCard } from '../requests/requests';
import { type ISessionsContext, SessionsProvider } from '../sessions/context';
import { PanelBoundary } from './boundary';
import { SessionPage } from './page';

import '../../style/chat.css';

/** One session and nothing else, for the main area. */
export class SessionWidget extends ReactWidget {
  constructor(
    private readonly _context: ISessionsContext,
    private readonly _id: string
  ) {
    super();
    this.addClass('jp-acp-Chat');
    this.addClass('jp-acp-mod-main');
    this.node.dataset.acpView = _id;
  }

  protected override onActivateRequest(_: Message): void {
    // A card that was gone to keeps the focus.
    if (!isOnCard(this.node)) {
      this._input.current?.focus();
    }
  }

  protected override render(): JSX.Element {
    return (
      <SessionsProvider context={this._context}>
        <PanelBoundary>
          <SessionPage id={this._id} inputRef={this._input} />
        </PanelBoundary>
      </SessionsProvider>
    );
  }

  private readonly _input = React.createRef<HTMLTextAreaElement>();
}
