// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { ReactWidget } from '@jupyterlab/ui-components';
import { PromiseDelegate } from '@lumino/coreutils';
import type { Message } from '@lumino/messaging';
import * as React from 'react';

import type { IChatPanel } from '../api/chat';
import { type ISessionsContext, SessionsProvider } from '../sessions/context';
import type { Boundary } from '../ui/boundary';
import { PanelBoundary } from './boundary';
import { Chat, type IChatHandle } from './chat';

import '../../style/chat.css';

/** The chat as a widget: everything that is loaded when it is first shown. */
export class ChatWidget extends ReactWidget {
  constructor(private readonly _context: ISessionsContext) {
    super();
    this.addClass('jp-acp-Chat');
    // It has the focus where there is nothing to write in yet.
    this.node.tabIndex = -1;
  }

  /** Start a session and show it. */
  async newSession(agent?: string): Promise<void> {
    const chat = await this._chat();
    await chat.newSession(agent);
  }

  /** Show a session that exists. */
  async openSession(id: string): Promise<void> {
    const chat = await this._chat();
    await chat.openSession(id);
  }

  /** Show the page from which a remote session starts. */
  async newRemoteSession(wanted: IChatPanel.IRemote): Promise<void> {
    const chat = await this._chat();
    chat.newRemoteSession(wanted);
  }

  /** Put something into the prompt, of a new session if none is open. */
  async ask(question: IChatPanel.IQuestion): Promise<void> {
    const chat = await this._chat();
    await chat.ask(question);
  }

  protected override onActivateRequest(_: Message): void {
    this._handle?.focus();
  }

  protected override render(): JSX.Element {
    return (
      <SessionsProvider context={this._context}>
        <PanelBoundary
          ref={this._boundary}
          onLeave={() => this._context.sessions.clear()}
        >
          <Chat frame={this.node} ref={this._setHandle} />
        </PanelBoundary>
      </SessionsProvider>
    );
  }

  /** The chat, loaded again without its session if that could not be shown. */
  private async _chat(): Promise<IChatHandle> {
    if (this._boundary.current?.hasFailed) {
      this._context.sessions.clear();
      this._boundary.current.retry();
    }
    return this._mounted.promise;
  }

  private readonly _setHandle = (handle: IChatHandle | null): void => {
    this._handle = handle;
    if (handle) {
      this._mounted.resolve(handle);
    } else {
      this._mounted = new PromiseDelegate();
    }
  };

  private _handle: IChatHandle | null = null;
  private _mounted = new PromiseDelegate<IChatHandle>();
  private readonly _boundary = React.createRef<Boundary>();
}
