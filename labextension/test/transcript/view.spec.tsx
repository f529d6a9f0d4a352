// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { act, cleanup, fireEvent, screen } from '@testing-library/react';
import * as React from 'react';

import type { IToolItem } from '../../src/tools/items';
import type { TranscriptItem } from '../../src/transcript/items';
import { Transcript } from '../../src/transcript/transcript';
import { TranscriptView } from '../../src/transcript/view';
import { Feed, numbered } from '../support/helpers';
import { mutated } from '../support/mutate';
import { Random } from '../support/random';
import { MESSAGES } from '../support/samples';
import { shown } from '../support/views';

const nothing = (): void => undefined;

function show(items: readonly TranscriptItem[]): void {
  shown(
    <TranscriptView
      items={items}
      waiting={[]}
      asked={new Set()}
      isBusy={false}
      runningSince={null}
      isBroken={false}
      onRestart={nothing}
      onLog={nothing}
    />
  );
}

const DROPPED = 'The agent sent something that cannot be shown';
const FAILED = 'This part of the transcript cannot be shown';

describe('the rows of a transcript', () => {
  afterEach(() => jest.restoreAllMocks());

  it('hold what could not be read, folded, with its JSON', () => {
    const feed = new Feed();
    feed.prompt('hello');
    feed.update({ sessionUpdate: 'plan', entries: [null] });
    feed.update({ sessionUpdate: 'hologram', depth: 3 });
    show(feed.transcript.items);
    const row = screen.getByText(DROPPED).parentElement as HTMLDetailsElement;
    row.open = true;
    fireEvent(row, new Event('toggle'));
    expect(row.textContent).toContain('"depth": 3');
    expect(screen.getByText('hello')).toBeTruthy();
  });

  it('fail alone', () => {
    jest.spyOn(console, 'error').mockImplementation(nothing);
    const feed = new Feed();
    feed.prompt('hello');
    feed.update({ sessionUpdate: 'tool_call', toolCallId: 't', title: 'Run' });
    feed.prompt('bye');
    const item = feed.transcript.items[1];
    Object.assign((item as IToolItem).call, { locations: null });
    show(feed.transcript.items);
    expect(screen.getAllByText(FAILED)).toHaveLength(1);
    expect(screen.getByText('hello')).toBeTruthy();
    expect(screen.getByText('bye')).toBeTruthy();
  });

  it('never fail for what an agent sends', async () => {
    const errors = jest.spyOn(console, 'error').mockImplementation(nothing);
    const random = new Random(3);
    for (let round = 0; round < 120; round++) {
      const transcript = new Transcript();
      for (let count = 0; count < 12; count++) {
        const { method, params } = random.pick(MESSAGES);
        const given = mutated(params, random, 0.06) as object;
        transcript.receive(method, numbered(transcript.seq + 1, { ...given }));
      }
      show(transcript.items);
      await act(() => new Promise(resolve => setTimeout(resolve, 0)));
      for (const toggle of screen.queryAllByRole('button', {
        expanded: false
      })) {
        fireEvent.click(toggle);
      }
      expect(screen.queryByText(FAILED)).toBeNull();
      expect(screen.getByRole('log')).toBeTruthy();
      cleanup();
    }
    expect(errors.mock.calls).toEqual([]);
  });
});
