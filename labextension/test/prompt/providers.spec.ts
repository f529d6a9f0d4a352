// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Signal } from '@lumino/signaling';

import type { Attachment } from '../../src/api/attachment';
import type { IContextProvider, ISuggestion } from '../../src/api/prompt';
import type { ISession } from '../../src/api/sessions';
import { ContextProviders } from '../../src/prompt/carrying';
import { DEADLINE_MS } from '../../src/prompt/registry';
import { AGENT_COMMANDS, PromptProviders } from '../../src/prompt/suggesting';

const session = {
  id: 's',
  commands: [
    { name: 'plan', description: 'Make a plan' },
    { name: 'play', description: 'Play', input: { hint: 'SONG' } },
    { name: 'run', description: 'Run' }
  ]
} as unknown as ISession;

const never = (): Promise<never> => new Promise(() => undefined);

beforeEach(() => {
  jest.spyOn(console, 'warn').mockImplementation();
});

afterEach(() => jest.restoreAllMocks());

describe('suggestions', () => {
  let providers: PromptProviders;
  let told: string[][];
  const asked: AbortController[] = [];

  // Whoever never answers is not waited for any longer.
  afterEach(() => asked.splice(0).forEach(controller => controller.abort()));

  beforeEach(() => {
    providers = new PromptProviders();
    told = [];
  });

  const suggest = (trigger: '@' | '/', query: string): AbortController => {
    const controller = new AbortController();
    asked.push(controller);
    providers.suggest(trigger, query, session, controller.signal, found =>
      told.push(found.map(({ name }) => name))
    );
    return controller;
  };

  const offering = (id: string, ...names: string[]) => ({
    id,
    trigger: '@' as const,
    suggest: (): Promise<ISuggestion[]> =>
      Promise.resolve(names.map(name => ({ name })))
  });

  const settled = () => new Promise(resolve => setTimeout(resolve, 10));

  it('are the commands of the agent after a slash', async () => {
    providers.add(AGENT_COMMANDS);
    providers.add(offering('files', 'a.py'));
    suggest('/', 'pla');
    await settled();
    expect(told).toEqual([['plan', 'play']]);
  });

  it('come as they are found, in the order of their providers', async () => {
    let found: (value: ISuggestion[]) => void = () => undefined;
    providers.add({
      id: 'slow',
      trigger: '@',
      suggest: () => new Promise(resolve => (found = resolve))
    });
    providers.add(offering('fast', 'b'));
    suggest('@', '');
    await settled();
    expect(told).toEqual([['b']]);
    found([{ name: 'a' }]);
    await settled();
    expect(told).toEqual([['b'], ['a', 'b']]);
  });

  it.each([
    [
      'fails',
      () => {
        throw new Error('broken');
      }
    ],
    ['rejects', () => Promise.reject(new Error('broken'))],
    ['never answers', never]
  ])('of others come although one %s', async (_, broken) => {
    providers.add({ id: 'broken', trigger: '@', suggest: broken });
    providers.add(offering('files', 'a.py'));
    suggest('@', 'a');
    await settled();
    expect(told.at(-1)).toEqual(['a.py']);
  });

  it('are not told to who has typed on', async () => {
    providers.add(offering('files', 'a.py'));
    suggest('@', 'a').abort();
    await settled();
    expect(told).toEqual([]);
  });

  it('end with their provider', async () => {
    const added = providers.add(offering('files', 'a.py'));
    expect(() => providers.add(offering('files'))).toThrow('"files" already');
    added.dispose();
    suggest('@', 'a');
    await settled();
    expect(told).toEqual([]);
  });
});

describe('what messages carry along', () => {
  const text = (name: string): Attachment => ({
    type: 'text',
    name,
    uri: `test:${name}`,
    text: name
  });

  const provider = (
    id: string,
    extra: Partial<IContextProvider> = {}
  ): IContextProvider => ({
    id,
    changed: new Signal<object, void>({}),
    offer: () => ({ label: id, title: id }),
    attachments: () => Promise.resolve([text(id)]),
    ...extra
  });

  it('is what is offered and on, from providers that do not fail', async () => {
    const contexts = new ContextProviders();
    contexts.add(provider('one'));
    contexts.add(provider('off'));
    contexts.add(provider('nothing', { offer: () => null }));
    contexts.add(
      provider('throws', {
        offer: () => {
          throw new Error('broken');
        }
      })
    );
    contexts.add(
      provider('broken', {
        attachments: () => Promise.reject(new Error('broken'))
      })
    );
    contexts.add(provider('two'));
    expect(await contexts.attachments(session, id => id !== 'off')).toEqual([
      text('one'),
      text('two')
    ]);
  });

  it('does not keep a message for longer than its deadline', async () => {
    jest.useFakeTimers();
    const contexts = new ContextProviders();
    contexts.add(provider('late', { attachments: never }));
    const found = contexts.attachments(session, () => true);
    await jest.advanceTimersByTimeAsync(DEADLINE_MS);
    expect(await found).toEqual([]);
    jest.useRealTimers();
  });
});
