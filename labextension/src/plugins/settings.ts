// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { type ISignal, Signal } from '@lumino/signaling';

import { IChatSettings } from '../api/chat';

class ChatSettings implements IChatSettings {
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get sendsWithEnter(): boolean {
    return this._loaded?.composite.sendWithEnter !== false;
  }

  get sharesContext(): boolean {
    return this._loaded?.composite.shareContext !== false;
  }

  follow(loaded: ISettingRegistry.ISettings): void {
    this._loaded = loaded;
    loaded.changed.connect(() => this._changed.emit());
    this._changed.emit();
  }

  private _loaded: ISettingRegistry.ISettings | null = null;
  private readonly _changed = new Signal<this, void>(this);
}

/** Provides how the user wants the chat to behave. */
export const settings: JupyterFrontEndPlugin<IChatSettings> = {
  id: 'jupyter-acp-bridge:chat',
  description: 'Provides the settings of the agent chat.',
  autoStart: true,
  provides: IChatSettings,
  optional: [ISettingRegistry],
  activate: (
    _: JupyterFrontEnd,
    registry: ISettingRegistry | null
  ): IChatSettings => {
    const chat = new ChatSettings();
    registry?.load(settings.id).then(
      loaded => chat.follow(loaded),
      // Everything has a default.
      error => console.error('jupyter-acp: the settings were not loaded', error)
    );
    return chat;
  }
};
