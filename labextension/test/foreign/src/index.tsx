// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { Signal } from '@lumino/signaling';
import {
  IContextProviders,
  IPromptProviders,
  ISessions,
  IToolRenderers,
  type IToolRendererProps
} from 'jupyter-acp-bridge';
import * as React from 'react';

/** Draws what a tool called "Weather" found. */
function Weather({ call, session }: IToolRendererProps): JSX.Element {
  const { sky = 'unknown' } = (call.rawOutput ?? {}) as { sky?: string };
  return (
    <p className="foreign-Weather">
      The sky over {session.info.agent} is {sky}.
    </p>
  );
}

/** Uses everything that the chat with agents offers to other extensions. */
const plugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-acp-foreign:plugin',
  description: 'Uses what the chat with agents offers to others.',
  autoStart: true,
  requires: [ISessions, IToolRenderers, IPromptProviders, IContextProviders],
  activate: (
    app: JupyterFrontEnd,
    sessions: ISessions,
    renderers: IToolRenderers,
    prompts: IPromptProviders,
    contexts: IContextProviders
  ) => {
    // Not at once: other tests know nothing of it.
    const describedBy = { args: { type: 'object', properties: {} } } as const;
    app.commands.addCommand('foreign:begin', {
      describedBy,
      execute: () => {
        renderers.add({
          id: 'weather',
          rank: 10,
          matches: ({ title }) => title === 'Weather',
          Component: Weather
        });
        prompts.add({
          id: 'towns',
          trigger: '@',
          suggest: query =>
            Promise.resolve(
              ['Bern', 'Basel']
                .filter(town => town.startsWith(query))
                .map(name => ({
                  name,
                  detail: 'a town',
                  attachment: {
                    type: 'text',
                    name,
                    uri: `town:${name}`,
                    text: `${name} is a town.`
                  } as const
                }))
            )
        });
        contexts.add({
          id: 'moon',
          changed: new Signal<object, void>({}),
          offer: () => ({ label: 'Moon', title: 'The moon is sent.' }),
          attachments: () =>
            Promise.resolve([
              {
                type: 'text',
                name: 'moon',
                uri: 'sky:moon',
                text: 'It is full.'
              }
            ])
        });
      }
    });
    app.commands.addCommand('foreign:ask', {
      label: 'Ask about the weather',
      describedBy,
      execute: async () => {
        const session = sessions.current ?? (await sessions.create());
        await session.send('What is the weather like?');
      }
    });
  }
};

export default plugin;
