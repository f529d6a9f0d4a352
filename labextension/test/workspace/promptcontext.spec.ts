/**
 * @jest-environment jsdom
 */

// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { PromptContext } from '../../src/workspace/promptcontext';
import type { WorkspaceTracker } from '../../src/workspace/tracker';
import { english } from '../support/helpers';
import { FakeContext, FakeLab } from '../support/lab';

class FakeResizeObserver {
  observe(): void {}
  disconnect(): void {}
}

describe('what the agent is told with the next message', () => {
  let lab: FakeLab;
  let tracker: WorkspaceTracker;
  let context: PromptContext;

  beforeEach(() => {
    jest.useFakeTimers();
    Object.assign(globalThis, { ResizeObserver: FakeResizeObserver });
    lab = new FakeLab();
    tracker = lab.start();
    context = new PromptContext({
      tracker,
      trans: english
    } as unknown as PromptContext.IOptions);
    lab.open(new FakeContext('folder/a.py'));
  });

  afterEach(() => {
    tracker.dispose();
    jest.useRealTimers();
  });

  it('is where the user is, and what is open', () => {
    expect(context.offer()).toEqual({
      label: 'a.py',
      title:
        'The editor context (cursor, open documents) is sent with the message.'
    });
    // A terminal is no document: the last one is still meant.
    lab.open(null);
    expect(context.offer()?.label).toBe('a.py');
  });

  it('is nothing where no text may go along', () => {
    let changes = 0;
    context.changed.connect(() => changes++);
    lab.set('contextLength', 0);
    expect(context.offer()).toBeNull();
    expect(changes).toBe(1);
    lab.set('contextLength', 100);
    expect(context.offer()?.label).toBe('a.py');
  });

  it('is only what the user shares', () => {
    lab.set('shareOpenDocuments', false);
    expect(context.offer()).toEqual({
      label: 'a.py',
      title: 'The editor context (cursor) is sent with the message.'
    });
    lab.set('shareActiveDocument', false);
    expect(context.offer()).toBeNull();
    lab.set('shareOpenDocuments', true);
    expect(context.offer()).toEqual({
      label: 'Open documents',
      title: 'The editor context (open documents) is sent with the message.'
    });
  });
});
