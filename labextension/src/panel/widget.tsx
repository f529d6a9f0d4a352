// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { ReactWidget } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';
import * as React from 'react';

import { isOnCard } from '../requests/requests';
import { type ISessionsContext, SessionsProvider } from '../sessions/context';
import type { Boundary } from '../ui/boundary';
import { PanelBoundary } from './boundary';
import { Chat } from './chat';
import type { PanelModel } from './model';

import '../../style/chat.css';

/** The chat as a widget: everything that is loaded when it is first shown. */
export class ChatWidget extends ReactWidget {
  constructor(
    private readonly _context: ISessionsContext,
    private readonly _panel: PanelModel
  ) {
    super();
    this.addClass('jp-acp-Chat');
    // It has the focus where there is nothing to write in yet.
    this.node.tabIndex = -1;
    // While the person waits: also before the chat is in the page.
    _panel.waits.connect(() => this.node.focus(), this);
  }

  /** Show something else, because what was shown has failed. */
  recover(): void {
    if (this._boundary.current?.hasFailed) {
      this._panel.showList();
      this._boundary.current.retry();
    }
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
        <PanelBoundary
          ref={this._boundary}
          onLeave={() => this._panel.showList()}
        >
          <Chat panel={this._panel} frame={this.node} inputRef={this._input} />
        </PanelBoundary>
      </SessionsProvider>
    );
  }

  private readonly _input = React.createRef<HTMLTextAreaElement>();
  private readonly _boundary = React.createRef<Boundary>();
}
