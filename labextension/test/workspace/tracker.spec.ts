/**
 * @jest-environment jsdom
 */

// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { WorkspaceTracker } from '../../src/workspace/tracker';
import {
  FakeContext,
  FakeKernel,
  FakeLab,
  type FakeWidget,
  notebookContent,
  pathsOf
} from '../support/lab';

class FakeResizeObserver {
  observe(): void {}
  disconnect(): void {}
}

describe('WorkspaceTracker', () => {
  let lab: FakeLab;
  let tracker: WorkspaceTracker;
  let hasFocus: boolean;

  const py = () => new FakeContext('a.py');

  beforeEach(() => {
    jest.useFakeTimers();
    Object.assign(globalThis, { ResizeObserver: FakeResizeObserver });
    hasFocus = true;
    jest.spyOn(document, 'hasFocus').mockImplementation(() => hasFocus);
    lab = new FakeLab();
  });

  afterEach(() => {
    tracker.dispose();
    jest.restoreAllMocks();
    jest.useRealTimers();
  });

  const start = async () => {
    tracker = lab.start();
    return lab.update();
  };

  it('tells everything at first and at each new connection', async () => {
    const widget = lab.open(py());
    const first = await start();
    expect(first).toMatchObject({
      full: true,
      documents: [
        { path: 'a.py', languageId: 'python', kind: 'file', dirty: false }
      ],
      active: 'a.py',
      focused: true,
      recents: [],
      shares: {
        openDocuments: true,
        recentDocuments: true,
        activeDocument: true
      }
    });
    lab.connection.become('disconnected');
    lab.close(widget, null);
    lab.open(new FakeContext('b.md'));
    expect(await lab.sent()).toEqual([]);
    lab.connection.become('connected');
    const again = await lab.update();
    expect(again.full).toBe(true);
    expect(pathsOf(again.documents)).toEqual(['b.md']);
    expect(again.active).toBe('b.md');
  });

  it('names one load of the page in all that it sends', async () => {
    tracker = lab.start();
    lab.connection.become('disconnected');
    lab.connection.become('connected');
    const [{ window: first }] = await lab.sent();
    lab.open(py());
    const [{ window: second }] = await lab.sent();
    expect(first).toMatch(/^[0-9a-f-]{36}$/);
    expect(second).toBe(first);
  });

  it('waits for a document that is loading and keeps the last one', async () => {
    lab.open(py());
    await start();
    const slow = new FakeContext('slow.ipynb');
    slow.isReady = false;
    lab.open(slow);
    expect(tracker.active).toBe('a.py');
    slow.load();
    const update = await lab.update();
    expect(pathsOf(update.documents)).toContain('slow.ipynb');
    expect(update.active).toBe('slow.ipynb');
  });

  it('leaves out other drives, images and what has no file', async () => {
    lab.open(new FakeContext('S3:b.py'));
    lab.open(new FakeContext('p.png', 'file', 'base64'));
    lab.open(null);
    expect(await start()).toMatchObject({ documents: [], active: null });
  });

  it('sees a tab that opens behind the others', async () => {
    await start();
    lab.openBehind(py());
    const update = await lab.update();
    expect(pathsOf(update.documents)).toEqual(['a.py']);
    expect(update).not.toHaveProperty('active');
  });

  it('has no active document in a terminal', async () => {
    lab.open(py());
    await start();
    lab.open(null);
    expect(await lab.update()).toEqual({ active: null, focused: true });
    expect(tracker.documents).toEqual(['a.py']);
  });

  it('tells one document of two views until both are closed', async () => {
    const context = py();
    const first = lab.open(context);
    const second = lab.open(context);
    expect((await start()).documents).toHaveLength(1);
    lab.close(second, first);
    expect(await lab.update()).not.toHaveProperty('closed');
    lab.close(first, null);
    expect(await lab.update()).toEqual({
      active: null,
      closed: ['a.py'],
      focused: true
    });
  });

  it('tells the view that was used last of a notebook and its text', async () => {
    lab.open(new FakeContext('n.ipynb'));
    await start();
    jest.advanceTimersByTime(5);
    const text = lab.open(new FakeContext('n.ipynb', 'file'));
    expect((await lab.update()).documents).toMatchObject([
      { path: 'n.ipynb', kind: 'file', languageId: 'json' }
    ]);
    lab.close(text, lab.tabs[0]);
    const update = await lab.update();
    expect(update.documents).toMatchObject([{ kind: 'notebook' }]);
    expect(update).not.toHaveProperty('closed');
  });

  it('tells a rename and the language that comes with it', async () => {
    const context = new FakeContext('a.txt');
    lab.open(context);
    await start();
    context.rename('b.py');
    expect(await lab.update()).toMatchObject({
      closed: ['a.txt'],
      documents: [{ path: 'b.py', languageId: 'python' }],
      active: 'b.py'
    });
  });

  it('tells unsaved changes and when they are saved', async () => {
    const context = py();
    lab.open(context);
    await start();
    context.edit();
    expect((await lab.update()).documents).toMatchObject([{ dirty: true }]);
    context.edit();
    expect(await lab.sent()).toEqual([]);
    context.model.dirty = false;
    context.model.stateChanged.emit();
    expect((await lab.update()).documents).toMatchObject([{ dirty: false }]);
  });

  it('sends at most ten messages a second and the last state', async () => {
    const context = new FakeContext('n.ipynb');
    const content = notebookContent(
      Array.from({ length: 300 }, (_, index) => `c${index}`)
    );
    lab.open(context, content);
    await start();
    lab.connection.times.length = 0;
    const begin = Date.now();
    for (let count = 0; count < 300; count++) {
      content.activate(count);
      await jest.advanceTimersByTimeAsync(10);
    }
    const all = await lab.sent();
    const { times } = lab.connection;
    expect(times[0] - begin).toBeLessThanOrEqual(20);
    for (let index = 1; index < times.length; index++) {
      expect(times[index] - times[index - 1]).toBeGreaterThanOrEqual(100);
    }
    expect(all.length).toBeGreaterThan(20);
    expect(all[all.length - 1].documents).toMatchObject([
      { cell: { id: 'c299', index: 299, type: 'code' } }
    ]);
  });

  describe('of a notebook', () => {
    let context: FakeContext;
    const language = async () => (await lab.update()).documents?.[0].languageId;

    beforeEach(() => {
      context = new FakeContext('n.ipynb');
      lab.specs = { ir: { language: 'R' }, bash: { language: 'bash' } };
      lab.open(context, notebookContent(['c0']));
    });

    it('tells the language of the kernel that runs', async () => {
      context.model.metadata = { language_info: { name: 'julia' } };
      context.sessionContext.use(new FakeKernel('python3', 'ipython'));
      expect((await start()).documents).toMatchObject([
        {
          languageId: 'python',
          kernel: { name: 'python3', state: 'idle' },
          cell: { id: 'c0', index: 0, type: 'code' }
        }
      ]);
      const bash = new FakeKernel('bash');
      context.sessionContext.use(bash);
      // Its spec has to do until the kernel answers.
      expect(await language()).toBe('shellscript');
      bash.tell('zoidberg');
      expect(await language()).toBe('zoidberg');
    });

    it('ignores what a kernel says that was replaced', async () => {
      const slow = new FakeKernel('slow');
      context.sessionContext.use(slow);
      context.sessionContext.use(new FakeKernel('python3', 'python'));
      await start();
      slow.tell('bash');
      expect(await lab.sent()).toEqual([]);
    });

    it('falls back to the metadata and then to the kernelspec', async () => {
      context.model.metadata = { kernelspec: { name: 'ir' } };
      const { documents } = await start();
      expect(documents?.[0].languageId).toBe('r');
      expect(documents?.[0]).not.toHaveProperty('kernel');
      context.model.metadata.language_info = { name: 'C++17' };
      context.model.contentChanged.emit();
      expect(await language()).toBe('cpp');
      context.model.metadata = {};
      context.model.contentChanged.emit();
      expect(await language()).toBe('plaintext');
    });

    it('tells what the kernel does', async () => {
      const kernel = new FakeKernel('python3', 'python');
      context.sessionContext.use(kernel);
      await start();
      kernel.status = 'busy';
      context.sessionContext.statusChanged.emit();
      expect((await lab.update()).documents).toMatchObject([
        { kernel: { name: 'python3', state: 'busy' } }
      ]);
    });
  });

  it('tells when the window gets the focus', async () => {
    lab.open(py());
    hasFocus = false;
    expect(await start()).not.toHaveProperty('focused');
    lab.turnTo(null);
    expect(await lab.update()).toEqual({ active: null });
    hasFocus = true;
    window.dispatchEvent(new Event('focus'));
    document.dispatchEvent(new Event('visibilitychange'));
    expect(await lab.update()).toEqual({ focused: true });
  });

  it('takes its leave, and is back when the page is', async () => {
    lab.open(py());
    await start();
    window.dispatchEvent(new Event('pagehide'));
    lab.open(null);
    expect(await lab.update()).toEqual({ gone: true });
    window.dispatchEvent(new Event('pageshow'));
    expect((await lab.update()).full).toBe(true);
  });

  it('sends anew what the user shares from now on', async () => {
    lab.open(new FakeContext('b.md'));
    lab.open(py());
    lab.recents.recentlyOpened = [{ path: 'b.md', contentType: 'file' }];
    await start();
    lab.set('shareOpenDocuments', false);
    lab.set('shareRecentDocuments', false);
    const update = await lab.update();
    expect(pathsOf(update.documents)).toEqual(['a.py']);
    expect(update).toMatchObject({
      full: true,
      recents: [],
      shares: { openDocuments: false, recentDocuments: false }
    });
  });

  it('tells recent documents when they change', async () => {
    await start();
    lab.recents.recentlyOpened = [{ path: 'a.py', contentType: 'file' }];
    lab.recents.changed.emit();
    expect(await lab.update()).toEqual({
      recents: [{ path: 'a.py', languageId: 'python', kind: 'file' }]
    });
  });

  it('lets others know what is open and active', async () => {
    await start();
    const changed = jest.fn();
    tracker.changed.connect(changed);
    const context = py();
    const widget: FakeWidget = lab.open(context);
    expect(changed).toHaveBeenCalled();
    expect([tracker.active, tracker.documents]).toEqual(['a.py', ['a.py']]);
    changed.mockClear();
    context.edit();
    expect(changed).not.toHaveBeenCalled();
    lab.close(widget, null);
    expect([tracker.active, tracker.documents]).toEqual([null, []]);
    expect(changed).toHaveBeenCalled();
  });

  it('is silent once disposed', async () => {
    const context = py();
    lab.open(context);
    await start();
    tracker.dispose();
    context.edit();
    lab.open(new FakeContext('b.py'));
    window.dispatchEvent(new Event('focus'));
    lab.connection.become('connected');
    expect(await lab.sent()).toEqual([]);
  });
});
