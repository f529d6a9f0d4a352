// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import {
  ILabShell,
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette, Notification } from '@jupyterlab/apputils';
import { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { Terminal } from '@jupyterlab/services';
import {
  ITranslator,
  type TranslationBundle,
  nullTranslator
} from '@jupyterlab/translation';

import { IAgents } from '../api/agents';
import { IChatSettings } from '../api/chat';
import { CommandIDs } from '../api/commands';
import { IPromptContext } from '../api/mentions';
import { IPermissionRules } from '../api/permissions';
import { ICodeActions, IDocumentOpener } from '../api/workspace';
// What the panel does before it is loaded.
// eslint-disable-next-line jupyter/prefer-lazy-imports
import { PanelModel } from '../panel/model';
import { AcpPanel } from '../panel/panel';
import { IAcpPanel } from '../panel/token';
import type { ISessionsContext } from '../sessions/context';
import { Renaming } from '../sessions/renaming';
import type { Sessions } from '../sessions/sessions';
import { ISessionStore } from '../sessions/token';
import { ToolRenderers } from '../tools/renderers';
import type { ITerminals } from '../ui/context';

/** Adds the chat to the right side panel and its commands to the palette. */
export const panel: JupyterFrontEndPlugin<AcpPanel> = {
  id: 'jupyter-acp-bridge:panel',
  description: 'Adds the agent chat to the side panel.',
  autoStart: true,
  provides: IAcpPanel,
  requires: [
    ISessionStore,
    IAgents,
    IRenderMimeRegistry,
    IEditorLanguageRegistry
  ],
  optional: [
    ITranslator,
    ICommandPalette,
    ILayoutRestorer,
    ILabShell,
    IPermissionRules,
    IDocumentOpener,
    IPromptContext,
    ICodeActions,
    IChatSettings
  ],
  activate: (
    app: JupyterFrontEnd,
    sessions: Sessions,
    agents: IAgents,
    rendermime: IRenderMimeRegistry,
    languages: IEditorLanguageRegistry,
    translator: ITranslator | null,
    palette: ICommandPalette | null,
    restorer: ILayoutRestorer | null,
    labShell: ILabShell | null,
    rules: IPermissionRules | null,
    opener: IDocumentOpener | null,
    promptContext: IPromptContext | null,
    code: ICodeActions | null,
    settings: IChatSettings | null
  ): AcpPanel => {
    const trans = (translator ?? nullTranslator).load('jupyter_acp_bridge');
    const model = new PanelModel({ sessions, trans });
    const context: ISessionsContext = {
      sessions,
      agents,
      renderers: new ToolRenderers(),
      connection: sessions.connection,
      rendermime,
      languages,
      terminals: new LabTerminals(app, trans),
      opener: opener ?? undefined,
      references: promptContext ?? undefined,
      code: code ?? undefined,
      settings: settings ?? undefined,
      attempt: (words, work) => model.attempt(words, work),
      hasMainArea: labShell !== null,
      renaming: new Renaming(),
      openMenu: anchor => openMenu(app, anchor),
      run: (command, args) => void app.commands.execute(command, args),
      openSession: (id, area) =>
        app.commands.execute(CommandIDs.openSession, { id, area }),
      newRemoteSession: agent =>
        app.commands.execute(CommandIDs.newRemoteSession, { agent }),
      reloadSession: id =>
        app.commands.execute(CommandIDs.reloadSession, { id }),
      openSettings: title =>
        app.commands.execute(CommandIDs.openSettings, { query: title }),
      rules: rules ?? undefined,
      trans
    };
    if (labShell) {
      context.viewer = {
        open: ({ id: session }, { key: change, path }) =>
          void app.commands.execute(CommandIDs.openChange, {
            session,
            change,
            path
          })
      };
    }
    const widget = new AcpPanel(context, model);
    app.shell.add(widget, 'right', { rank: 900, type: 'Agents' });
    restorer?.add(widget, widget.id);
    const show = (): void => {
      // Notebook 7.4 would close what is shown already.
      if (widget.isVisible) {
        widget.activate();
      } else {
        app.shell.activateById(widget.id);
      }
    };

    const noArguments = { args: { type: 'object', properties: {} } } as const;
    app.commands.addCommand(CommandIDs.open, {
      label: trans.__('Open the Agent Chat'),
      caption: trans.__('Show the agent chat in the side panel'),
      describedBy: noArguments,
      execute: show
    });
    app.commands.addCommand(CommandIDs.newSession, {
      label: trans.__('New Agent Session'),
      caption: trans.__('Start a new session with an agent'),
      describedBy: {
        args: {
          type: 'object',
          properties: {
            agent: {
              type: 'string',
              description: trans.__(
                'The id of the agent; the default agent if omitted'
              )
            }
          }
        }
      },
      execute: async args => {
        show();
        await widget.newSession(args.agent as string | undefined);
      }
    });
    app.commands.addCommand(CommandIDs.focusRequest, {
      label: trans.__("Go to the Agent's Question"),
      caption: trans.__(
        'Move the focus to the first open question; then y allows once, a allows always, n rejects'
      ),
      describedBy: noArguments,
      execute: async () => {
        const { statusOf } = await import('../sessions/list');
        const { current, list } = sessions;
        const isAsked = current !== null && current.requests.length > 0;
        const asked = isAsked
          ? current
          : list.all.find(session => statusOf(session) === 'waiting');
        if (!asked) {
          Notification.info(trans.__('No agent has an open question.'), {
            autoClose: 3000
          });
          return;
        }
        await app.commands.execute(CommandIDs.openSession, { id: asked.id });
        const model = await sessions.follow(asked.id);
        model.isCardWanted = true;
      }
    });
    for (const command of [
      CommandIDs.open,
      CommandIDs.newSession,
      CommandIDs.focusRequest
    ]) {
      palette?.addItem({ command, category: trans.__('Agents') });
    }
    return widget;
  }
};

/** Open JupyterLab's context menu below an element, which has the focus again when it closes. */
function openMenu(app: JupyterFrontEnd, anchor: HTMLElement): void {
  const { menu } = app.contextMenu;
  const { right, bottom } = anchor.getBoundingClientRect();
  const onClose = (): void => {
    menu.aboutToClose.disconnect(onClose);
    anchor.focus();
  };
  menu.aboutToClose.connect(onClose);
  anchor.dispatchEvent(
    new MouseEvent('contextmenu', {
      bubbles: true,
      cancelable: true,
      clientX: right,
      clientY: bottom
    })
  );
  menu.activeIndex = 0;
}

/** Terminals as JupyterLab's own extension for them opens them, if it is there. */
class LabTerminals implements ITerminals {
  constructor(
    private readonly _app: JupyterFrontEnd,
    private readonly _trans: TranslationBundle
  ) {}

  get isAvailable(): boolean {
    return this._app.commands.hasCommand(CommandIDs.openTerminal);
  }

  async open(name: string): Promise<void> {
    const { terminals } = this._app.serviceManager;
    await terminals.refreshRunning();
    if ([...terminals.running()].some(model => model.name === name)) {
      await this._app.commands.execute(CommandIDs.openTerminal, { name });
    } else {
      // By that name, JupyterLab would open a new shell.
      Notification.info(this._trans.__('The command is no longer running.'));
    }
  }

  async run(command: string): Promise<void> {
    const { content } = (await this._app.commands.execute(
      CommandIDs.newTerminal
    )) as { content: { session: Terminal.ITerminalConnection } };
    // It waits for the connection, and the shell for its first prompt.
    content.session.send({ type: 'stdin', content: [`${command}\r`] });
  }
}
