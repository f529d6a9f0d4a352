// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { NotebookRunner } from '../../src/documents/run';
import { english } from '../support/helpers';

interface ISessionContext {
  isReady: boolean;
  session: { kernel: { info: Promise<object> } | null };
  restartKernel(): Promise<void>;
}

describe('NotebookRunner', () => {
  let context: ISessionContext;
  let restarts: number;

  async function restart(path: string): Promise<unknown> {
    const runner = new NotebookRunner({
      manager: {
        registry: {
          widgetFactories: () => [{ name: 'Notebook', modelName: 'notebook' }],
          getModelFactory: () => ({ contentType: 'notebook' })
        },
        findWidget: (name: string) =>
          name === 'n.ipynb' && {
            content: { notebookConfig: {} },
            context: { path: name, sessionContext: context }
          }
      } as never,
      executor: {} as never,
      trans: english
    });
    let told: unknown;
    await runner.answer({
      id: '1',
      method: '_jupyter/notebook/restart',
      params: { path },
      respond: result => (told = result),
      fail: (code, message) => (told = { code, message })
    });
    return told;
  }

  beforeEach(() => {
    restarts = 0;
    context = {
      isReady: true,
      session: { kernel: { info: Promise.resolve({}) } },
      restartKernel: () => {
        restarts++;
        return Promise.resolve();
      }
    };
  });

  it('restarts the kernel where the user sees it', async () => {
    expect(await restart('n.ipynb')).toEqual({});
    expect(restarts).toBe(1);
  });

  it('leaves to the server what this window has no kernel for', async () => {
    context.session.kernel = null;
    expect(await restart('n.ipynb')).toMatchObject({ code: -32002 });
    expect(await restart('other.ipynb')).toMatchObject({ code: -32002 });
    expect(restarts).toBe(0);
  });

  it('tells that it has failed', async () => {
    context.restartKernel = () => {
      context.isReady = false;
      return Promise.resolve();
    };
    expect(await restart('n.ipynb')).toMatchObject({
      message: 'The kernel of n.ipynb could not be restarted.'
    });
  });
});
