// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import {
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

import type { IChatContext, ITerminals } from '../components/context';
import {
  IChatSettings,
  IDocumentOpener,
  IPermissionRules,
  IPromptContext,
  ISessions
} from '../tokens';
import { ChangeTabs } from '../widgets/changetabs';
import { AcpPanel } from '../widgets/panel';

/** The commands of the chat panel. */
export namespace CommandIDs {
  export const open = 'jupyter-acp-bridge:open';
  export const newSession = 'jupyter-acp-bridge:new-session';
  /** The terminal extension's. */
  export const openTerminal = 'terminal:open';
  export const newTerminal = 'terminal:create-new';
}

/** Adds the chat to the right side panel and its commands to the palette. */
export const panel: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-acp-bridge:panel',
  description: 'Adds a side panel in which to talk to agents.',
  autoStart: true,
  requires: [ISessions, IRenderMimeRegistry, IEditorLanguageRegistry],
  optional: [
    ITranslator,
    ICommandPalette,
    ILayoutRestorer,
    IPermissionRules,
    IDocumentOpener,
    IPromptContext,
    IChatSettings
  ],
  activate: (
    app: JupyterFrontEnd,
    sessions: ISessions,
    rendermime: IRenderMimeRegistry,
    languages: IEditorLanguageRegistry,
    translator: ITranslator | null,
    palette: ICommandPalette | null,
    restorer: ILayoutRestorer | null,
    rules: IPermissionRules | null,
    opener: IDocumentOpener | null,
    promptContext: IPromptContext | null,
    settings: IChatSettings | null
  ): void => {
    const trans = (translator ?? nullTranslator).load('jupyter-acp-bridge');
    const context: IChatContext = {
      sessions,
      rendermime,
      languages,
      terminals: new LabTerminals(app, trans),
      opener: opener ?? undefined,
      context: promptContext ?? undefined,
      settings: settings ?? undefined,
      rules: rules ?? undefined,
      trans
    };
    context.changes = new ChangeTabs(app.shell, context);
    const widget = new AcpPanel(context);
    app.shell.add(widget, 'right', { rank: 900, type: 'Agents' });
    restorer?.add(widget, widget.id);

    const noArguments = { args: { type: 'object', properties: {} } } as const;
    app.commands.addCommand(CommandIDs.open, {
      label: trans.__('Open the Agent Chat'),
      caption: trans.__('Show the side panel in which to talk to agents'),
      describedBy: noArguments,
      execute: () => app.shell.activateById(widget.id)
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
                'The id of the agent; the default agent if left out'
              )
            }
          }
        }
      },
      execute: async args => {
        app.shell.activateById(widget.id);
        await widget.newSession(args.agent as string | undefined);
      }
    });
    for (const command of [CommandIDs.open, CommandIDs.newSession]) {
      palette?.addItem({ command, category: trans.__('Agents') });
    }
  }
};

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
