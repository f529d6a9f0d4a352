// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { ReactWidget } from '@jupyterlab/ui-components';
import { PromiseDelegate } from '@lumino/coreutils';
import type { Message } from '@lumino/messaging';
import * as React from 'react';

import type { IChatPanel } from '../api/chat';
import { type ISessionsContext, SessionsProvider } from '../sessions/context';
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
    await this._mounted.promise;
    await this._handle?.newSession(agent);
  }

  /** Show a session that exists. */
  async openSession(id: string): Promise<void> {
    await this._mounted.promise;
    await this._handle?.openSession(id);
  }

  /** Show what has to be known before a remote session begins. */
  async newRemoteSession(wanted: IChatPanel.IRemote): Promise<void> {
    await this._mounted.promise;
    this._handle?.newRemoteSession(wanted);
  }

  /** Put something into the prompt, of a new session if none is open. */
  async ask(question: IChatPanel.IQuestion): Promise<void> {
    await this._mounted.promise;
    await this._handle?.ask(question);
  }

  protected override onActivateRequest(_: Message): void {
    void this._mounted.promise.then(() => this._handle?.focus());
  }

  protected override render(): JSX.Element {
    return (
      <SessionsProvider context={this._context}>
        <Chat
          frame={this.node}
          ref={handle => {
            this._handle = handle;
            this._mounted.resolve();
          }}
        />
      </SessionsProvider>
    );
  }

  private _handle: IChatHandle | null = null;
  private readonly _mounted = new PromiseDelegate<void>();
}
