/**
 * @jest-environment jsdom
 */
// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IDocumentManager } from '@jupyterlab/docmanager';
import { Message, MessageLoop } from '@lumino/messaging';

import { DocumentShower } from '../../src/documents/show';
import { english } from '../support/helpers';

const ACTIVATION = new Message('activate-request');

/** A document in a tab of a dock with one group of tabs. */
class FakeDocument {
  constructor(
    readonly id: string,
    readonly parent: FakeDock,
    readonly content: object = {}
  ) {
    this.node.tabIndex = 0;
    document.body.append(this.node);
  }

  readonly node = document.createElement('div');
  readonly title = { owner: this };
  readonly revealed = Promise.resolve();

  get isVisible(): boolean {
    return this.parent.inFront === this;
  }

  processMessage({ type }: Message): void {
    if (type === ACTIVATION.type) {
      this.node.focus();
    }
  }
}

class FakeDock {
  documents: FakeDocument[] = [];
  inFront: FakeDocument | null = null;

  tabBars(): object[] {
    const titles = this.documents.map(({ title }) => title);
    return [{ titles, currentTitle: this.inFront?.title }];
  }

  selectWidget(widget: FakeDocument): void {
    this.inFront = widget;
  }

  add(id: string, content?: object): FakeDocument {
    const made = new FakeDocument(id, this, content);
    this.documents.push(made);
    this.inFront ??= made;
    return made;
  }
}

function editor(): { lineCount: number; calls: unknown[][] } & object {
  const calls: unknown[][] = [];
  const note =
    (name: string) =>
    (at: { line: number }): number =>
      calls.push([name, at.line]);
  return {
    calls,
    lineCount: 10,
    setCursorPosition: note('cursor'),
    revealPosition: note('reveal'),
    focus: note('focus')
  } as ReturnType<typeof editor>;
}

describe('DocumentShower', () => {
  let dock: FakeDock;
  let opened: unknown[][];
  let activates: boolean;
  let shower: DocumentShower;

  async function ask(params: object): Promise<unknown> {
    const told = { result: null as unknown, error: null as unknown };
    await shower.answer({
      id: '1',
      method: '_jupyter/document/show',
      params,
      respond: result => (told.result = result),
      fail: (code, message) => (told.error = { code, message })
    });
    return told.error ?? told.result;
  }

  beforeEach(() => {
    document.body.replaceChildren();
    dock = new FakeDock();
    opened = [];
    activates = false;
    const manager = {
      services: {
        contents: {
          get: (path: string) =>
            path.startsWith('missing')
              ? Promise.reject(new Error('No such file'))
              : Promise.resolve({})
        }
      },
      contextForWidget: () => ({ ready: Promise.resolve() }),
      findWidget: (path: string) => dock.documents.find(d => d.id === path),
      openOrReveal: (path: string, ...more: unknown[]) => {
        opened.push([path, ...more]);
        const made = dock.add(path, { editor: editor() });
        if (activates) {
          MessageLoop.postMessage(made, ACTIVATION);
        }
        return made;
      }
    };
    shower = new DocumentShower({
      manager: manager as unknown as IDocumentManager,
      shell: { widgets: () => dock.documents.values() } as never,
      trans: english
    });
  });

  it('brings a tab to the front without the focus', async () => {
    dock.add('a.py');
    const input = document.createElement('input');
    document.body.append(input);
    input.focus();
    expect(await ask({ path: 'b.py', line: 3 })).toEqual({ visible: true });
    expect(opened).toEqual([
      ['b.py', 'default', undefined, { activate: false }]
    ]);
    expect(dock.inFront?.id).toBe('b.py');
    expect(document.activeElement).toBe(input);
    const { calls } = (
      dock.inFront!.content as { editor: ReturnType<typeof editor> }
    ).editor;
    expect(calls).toEqual([
      ['cursor', 2],
      ['reveal', 2]
    ]);
  });

  it('takes no focus where JupyterLab activates what it opens', async () => {
    activates = true;
    const typedIn = dock.add('a.py').node;
    typedIn.focus();
    await ask({ path: 'b.py' });
    expect(document.activeElement).toBe(typedIn);
    // The user still can go there.
    const made = dock.documents[1];
    MessageLoop.sendMessage(made, ACTIVATION);
    expect(document.activeElement).toBe(made.node);
  });

  it('opens a document beside the one that is typed in', async () => {
    dock.add('a.py').node.focus();
    await ask({ path: 'b.py' });
    expect(opened[0][3]).toEqual({
      activate: false,
      mode: 'split-right',
      ref: 'a.py'
    });
  });

  it('hides nothing that is typed in', async () => {
    dock.add('a.py').node.focus();
    dock.add('b.py');
    expect(await ask({ path: 'b.py' })).toEqual({ visible: false });
    expect(dock.inFront?.id).toBe('a.py');
    expect(opened).toEqual([]);
  });

  it('moves no cursor where the user types, and no line past the end', async () => {
    const text = editor();
    dock.add('a.py', { editor: text }).node.focus();
    expect(await ask({ path: 'a.py', line: 99 })).toEqual({ visible: true });
    expect(text.calls).toEqual([['reveal', 9]]);
  });

  it('goes to a cell', async () => {
    const scrolled: unknown[][] = [];
    const notebook = {
      widgets: ['x', 'y'].map(id => ({ model: { id } })),
      activeCellIndex: 0,
      deselectAll: () => undefined,
      scrollToItem: (...at: unknown[]) => {
        scrolled.push(at);
        return Promise.reject(
          new Error('Scrolling to a new item is requested.')
        );
      }
    };
    dock.add('n.ipynb', notebook);
    await ask({ path: 'n.ipynb', cellId: 'y' });
    expect(notebook.activeCellIndex).toBe(1);
    expect(scrolled).toEqual([[1, 'smart']]);
    expect(await ask({ path: 'n.ipynb', cellId: 'z' })).toEqual({
      code: -32602,
      message: 'There is no cell z in n.ipynb.'
    });
    expect(await ask({ path: 'n.ipynb', line: 1 })).toMatchObject({
      message: 'n.ipynb is shown, but not as text with lines.'
    });
  });

  it('opens nothing that is not there or makes no sense', async () => {
    expect(await ask({ path: 'missing.py' })).toMatchObject({
      message: 'No such file'
    });
    expect(await ask({ path: 3 })).toMatchObject({ code: -32602 });
    expect(await ask({ path: 'a', line: 'x' })).toMatchObject({ code: -32602 });
    expect(opened).toEqual([]);
  });
});
