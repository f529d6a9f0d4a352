// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { JupyterFrontEnd } from '@jupyterlab/application';
import {
  ITranslator,
  type TranslationBundle,
  TranslationManager
} from '@jupyterlab/translation';

import plugins from '../../src/index';

// JupyterLab's notebooks bring it along; it is not in a form that jest loads.
jest.mock('vscode-ws-jsonrpc', () => ({}));

/** A service of which everything can be asked. */
const anything: unknown = new Proxy(() => undefined, {
  get: (_, name) => (name === Symbol.toPrimitive ? String : anything),
  apply: () => anything
});

/** What the server finds in a language pack: a catalogue by the name of each file. */
async function german(): Promise<TranslationManager> {
  const catalogue = {
    '': { language: 'de', plural_forms: 'nplurals=2; plural=(n != 1);' },
    Stop: ['Anhalten']
  };
  const manager = new TranslationManager('', '', undefined, {
    fetch: () => Promise.resolve({ data: { jupyter_acp_bridge: catalogue } })
  } as never);
  await manager.fetch('de');
  return manager;
}

const translated = plugins.filter(({ optional }) =>
  optional?.includes(ITranslator)
);

describe('the words of plugins', () => {
  it.each(translated.map(plugin => [plugin.id, plugin] as const))(
    'of %s are in the catalogue that is named like the package',
    async (_, plugin) => {
      const manager = await german();
      const loaded: TranslationBundle[] = [];
      const translator: ITranslator = {
        languageCode: manager.languageCode,
        load: domain => {
          loaded.push(manager.load(domain));
          return loaded.at(-1)!;
        }
      };
      const services = [
        ...(plugin.requires ?? []),
        ...(plugin.optional ?? [])
      ].map(token => (token === ITranslator ? translator : anything));
      void plugin.activate(anything as JupyterFrontEnd, ...services);
      expect(loaded.map(trans => trans.__('Stop'))).toEqual(['Anhalten']);
    }
  );
});
