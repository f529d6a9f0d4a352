// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { act, screen } from '@testing-library/react';
import * as React from 'react';

import type { IToolRendererProps } from '../../src/api/tools';
import { type IToolCall, newToolCall } from '../../src/tools/call';
import { RenderersContext, ToolParts } from '../../src/tools/parts';
import { ToolRenderers } from '../../src/tools/renderers';
import { shown } from '../support/views';

function call(extra: Partial<IToolCall> = {}): IToolCall {
  return {
    ...newToolCall('t'),
    title: 'Plot',
    content: [
      { type: 'content', content: { type: 'text', text: 'words' } },
      { type: 'diff', path: '/a.py', newText: 'new' },
      { type: 'content', content: { type: 'text', text: 'more' } }
    ],
    rawInput: { points: 3 },
    ...extra
  };
}

function Plot({ call, session }: IToolRendererProps): JSX.Element {
  return (
    <p>
      plot of {call.title} for {session.info.agent}
    </p>
  );
}

function Fails(): JSX.Element {
  throw new Error('broken');
}

const plot = {
  id: 'plot',
  rank: 10,
  matches: ({ title }: { title: string }) => title === 'Plot',
  Component: Plot
};

function show(
  renderers: ToolRenderers,
  shownCall = call(),
  isAsked = false
): void {
  shown(
    <RenderersContext.Provider value={renderers}>
      <ToolParts call={shownCall} revision={0} isAsked={isAsked} />
    </RenderersContext.Provider>
  );
}

describe('renderers of tool calls', () => {
  it('draw the parts in their order, if nobody else wants to', async () => {
    show(new ToolRenderers());
    await screen.findByText('words');
    await screen.findByText('more');
    const [words, diff, more] = [
      screen.getByText('words'),
      screen.getByRole('figure'),
      screen.getByText('more')
    ];
    const follows = Node.DOCUMENT_POSITION_FOLLOWING;
    expect(words.compareDocumentPosition(diff) & follows).toBeTruthy();
    expect(diff.compareDocumentPosition(more) & follows).toBeTruthy();
  });

  it('of other extensions draw what they match, until they are removed', async () => {
    const renderers = new ToolRenderers();
    const added = renderers.add(plot);
    show(renderers);
    expect(screen.getByText('plot of Plot for scripted')).toBeTruthy();
    expect(screen.queryByRole('figure')).toBeNull();
    act(() => added.dispose());
    expect(await screen.findByRole('figure')).toBeTruthy();
    expect(screen.queryByText('plot of Plot for scripted')).toBeNull();
  });

  it('of a higher rank than our own are asked later', () => {
    const renderers = new ToolRenderers();
    renderers.add({ ...plot, rank: 500 });
    show(renderers);
    expect(screen.getByRole('figure')).toBeTruthy();
    expect(screen.queryByText('plot of Plot for scripted')).toBeNull();
  });

  it('leave other calls as they are', () => {
    const renderers = new ToolRenderers();
    renderers.add(plot);
    show(renderers, call({ title: 'Look' }));
    expect(screen.getByRole('figure')).toBeTruthy();
  });

  it.each([
    ['to draw', { ...plot, Component: Fails }],
    [
      'to match',
      {
        ...plot,
        matches: () => {
          throw new Error('broken');
        }
      }
    ]
  ])('that fail %s give way to our own', async (_, broken) => {
    jest.spyOn(console, 'error').mockImplementation();
    const renderers = new ToolRenderers();
    renderers.add(broken);
    show(renderers);
    expect(await screen.findByRole('figure')).toBeTruthy();
    jest.restoreAllMocks();
  });

  it('of other extensions never draw what is asked for permission', () => {
    const renderers = new ToolRenderers();
    renderers.add(plot);
    show(renderers, call(), true);
    expect(screen.queryByText('plot of Plot for scripted')).toBeNull();
    expect(screen.getByRole('figure')).toBeTruthy();
  });

  it('have names of their own', () => {
    const renderers = new ToolRenderers();
    renderers.add(plot);
    expect(() => renderers.add(plot)).toThrow('"plot" already');
  });
});
