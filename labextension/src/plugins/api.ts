// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';

import { IChatPanel } from '../api/chat';
import { CommandIDs } from '../api/commands';
import { IContextProviders, IPromptProviders } from '../api/prompt';
import { ISessions } from '../api/sessions';
import { IToolRenderers } from '../api/tools';
import type { AcpPanel } from '../panel/panel';
import { IAcpPanel } from '../panel/token';
import type { Sessions } from '../sessions/sessions';
import { ISessionStore } from '../sessions/token';

/** Gives other extensions the sessions. */
export const publicSessions: JupyterFrontEndPlugin<ISessions> = {
  id: 'jupyter-acp-bridge:public-sessions',
  description: 'Provides the sessions with agents to other extensions.',
  autoStart: true,
  provides: ISessions,
  requires: [ISessionStore],
  activate: (_, sessions: Sessions): ISessions => sessions
};

/** Gives other extensions the chat. */
export const publicPanel: JupyterFrontEndPlugin<IChatPanel> = {
  id: 'jupyter-acp-bridge:public-panel',
  description: 'Provides the agent chat to other extensions.',
  autoStart: true,
  provides: IChatPanel,
  requires: [IAcpPanel],
  activate: (app: JupyterFrontEnd, panel: AcpPanel): IChatPanel => {
    const show = (): Promise<void> => app.commands.execute(CommandIDs.open);
    return {
      openSession: async id => {
        await show();
        await panel.openSession(id);
      },
      newRemoteSession: async wanted => {
        await show();
        await panel.newRemoteSession(wanted);
      },
      ask: async question => {
        await show();
        await panel.ask(question);
      }
    };
  }
};

/** Takes renderers of tool calls from other extensions. */
export const publicRenderers: JupyterFrontEndPlugin<IToolRenderers> = {
  id: 'jupyter-acp-bridge:tool-renderers',
  description: 'Takes renderers of tool calls from other extensions.',
  autoStart: true,
  provides: IToolRenderers,
  requires: [IAcpPanel],
  activate: (_, panel: AcpPanel): IToolRenderers => panel.context.renderers
};

/** Takes suggestions for messages from other extensions. */
export const publicPromptProviders: JupyterFrontEndPlugin<IPromptProviders> = {
  id: 'jupyter-acp-bridge:prompt-providers',
  description:
    'Takes mentions and commands for messages from other extensions.',
  autoStart: true,
  provides: IPromptProviders,
  requires: [ISessionStore],
  activate: (_, sessions: Sessions): IPromptProviders => sessions.suggestions
};

/** Takes what messages can carry along from other extensions. */
export const publicContextProviders: JupyterFrontEndPlugin<IContextProviders> =
  {
    id: 'jupyter-acp-bridge:context-providers',
    description: 'Takes context for messages from other extensions.',
    autoStart: true,
    provides: IContextProviders,
    requires: [ISessionStore],
    activate: (_, sessions: Sessions): IContextProviders => sessions.contexts
  };
