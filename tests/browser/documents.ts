// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import {
  type Locator,
  type Page,
  type WebSocketRoute,
  expect
} from '@playwright/test';

import { ChatPage } from './chat';

export interface ICell {
  /** Absent in files before format 4.5. */
  id?: string;
  cell_type: string;
  source: string;
  metadata: Record<string, unknown>;
  outputs?: object[];
  execution_count?: number | null;
}

export interface INotebook {
  nbformat: number;
  nbformat_minor: number;
  metadata: Record<string, unknown>;
  cells: ICell[];
}

export function code(id: string, source: string): ICell {
  return {
    id,
    cell_type: 'code',
    source,
    metadata: {},
    outputs: [],
    execution_count: null
  };
}

interface IContent<T> {
  format: string;
  content: T;
  version: string;
  dirty: boolean;
  fileHash?: string;
}

interface IWritten {
  version: string;
  conflict?: true;
}

interface IAnswer {
  id?: unknown;
  method?: string;
  result?: unknown;
  error?: { code: number; message: string };
}

/** The little of JupyterLab's objects that the tests look at. */
interface ICellWidget {
  node: HTMLElement & { mark?: string };
  model: { id: string; sharedModel: { getSource(): string } };
}

interface IDocumentWidget {
  context: {
    path: string;
    ready: Promise<void>;
    model: { dirty: boolean; readOnly: boolean; toString(): string };
    sessionContext: {
      ready: Promise<void>;
      session: {
        kernel: { info: Promise<unknown>; spec: Promise<unknown> } | null;
      } | null;
    };
  };
  content: {
    widgets: ICellWidget[];
    activeCellIndex: number;
    editor: {
      editor: {
        scrollDOM: HTMLElement;
        state: {
          doc: {
            line(n: number): { from: number; number: number };
            lineAt(n: number): { from: number; number: number; text: string };
          };
          selection: { main: { head: number; anchor: number } };
        };
        coordsAtPos(position: number): { top: number };
        dispatch(change: object): void;
        focus(): void;
      };
    };
  };
}

type Window = typeof globalThis & {
  jupyterapp: { shell: { currentWidget: IDocumentWidget } };
};

/** One document in JupyterLab, with the server's part played by the test. */
export class DocumentsPage extends ChatPage {
  static override async open(
    page: Page,
    path: string = ''
  ): Promise<DocumentsPage> {
    const documents = new DocumentsPage(page, path);
    await page.routeWebSocket(/\/acp\/ws/, route => documents._join(route));
    await page.goto(`/lab/workspaces/${path.replace('.', '-')}`);
    await documents.ready();
    await documents.execute('jupyter-acp-bridge:open');
    await expect.poll(() => documents._window !== null).toBe(true);
    await documents.execute('docmanager:open', { path });
    await page.evaluate(async () => {
      const { context } = (window as unknown as Window).jupyterapp.shell
        .currentWidget;
      await context.ready;
      await context.sessionContext.ready;
      // A kernel that has started writes into its notebook.
      const kernel = context.sessionContext.session?.kernel;
      await kernel?.info;
      await kernel?.spec;
    });
    return documents;
  }

  constructor(
    page: Page,
    readonly path: string
  ) {
    super(page);
  }

  readonly file = new FilePage(this.page);
  readonly cells = new CellsPage(this.page);

  /** Ask as the server does; a refusal is thrown as it came. */
  async ask<T>(what: 'read' | 'write' | 'save', params: object): Promise<T> {
    const id = `test-${++this._asked}`;
    const answered = new Promise<IAnswer>(resolve =>
      this._waiting.set(id, resolve)
    );
    const method = `_jupyter/document/${what}`;
    this._window!.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    const { result, error } = await answered;
    if (error) {
      throw Object.assign(new Error(error.message), { code: error.code });
    }
    return result as T;
  }

  read(path: string): Promise<IContent<string>> {
    return this.ask('read', { path });
  }

  readNotebook(): Promise<IContent<INotebook>> {
    return this.ask('read', { path: this.path });
  }

  write(
    path: string,
    version: string,
    content: unknown,
    more: object = {}
  ): Promise<IWritten> {
    const format = typeof content === 'string' ? 'text' : 'notebook';
    return this.ask('write', { path, format, content, version, ...more });
  }

  isDirty(): Promise<boolean> {
    return this.page.evaluate(
      () =>
        (window as unknown as Window).jupyterapp.shell.currentWidget.context
          .model.dirty
    );
  }

  setReadOnly(): Promise<void> {
    return this.page.evaluate(() => {
      const { currentWidget } = (window as unknown as Window).jupyterapp.shell;
      currentWidget.context.model.readOnly = true;
    });
  }

  async saveByUser(): Promise<void> {
    // Once more if need be: a kernel that starts writes into its notebook, too.
    await expect(async () => {
      await this.page.keyboard.press('Control+s');
      await expect.poll(() => this.isDirty(), { timeout: 3000 }).toBe(false);
    }).toPass();
  }

  async hasNoDialog(): Promise<void> {
    await expect(this.page.locator('.jp-Dialog')).toHaveCount(0);
  }

  private _join(route: WebSocketRoute): void {
    const server = route.connectToServer();
    this._window = route;
    server.onMessage(message => route.send(message));
    route.onMessage(message => {
      const answer = JSON.parse(message.toString()) as IAnswer;
      const resolve = this._waiting.get(answer.id);
      if (resolve) {
        this._waiting.delete(answer.id);
        resolve(answer);
      } else if (answer.method !== '_jupyter/workspace/update') {
        // What the server knows to be open, it would read and write, too.
        server.send(message);
      }
    });
  }

  private _asked = 0;
  private _window: WebSocketRoute | null = null;
  private readonly _waiting = new Map<unknown, (answer: IAnswer) => void>();
}

/** The text editor in front. */
class FilePage {
  constructor(readonly page: Page) {}

  text(): Promise<string> {
    return this.page.evaluate(() =>
      (
        window as unknown as Window
      ).jupyterapp.shell.currentWidget.context.model.toString()
    );
  }

  /** Put the cursor somewhere, three characters selected, in the middle. */
  async goto(line: number, column: number): Promise<void> {
    await this.page.evaluate(
      ([line, column]) => {
        const { currentWidget } = (window as unknown as Window).jupyterapp
          .shell;
        const view = currentWidget.content.editor.editor;
        const anchor = view.state.doc.line(line + 1).from + column;
        view.dispatch({
          selection: { anchor, head: anchor + column },
          scrollIntoView: true
        });
        view.focus();
        view.scrollDOM.setAttribute('data-mark', 'mark');
      },
      [line, column] as const
    );
    // The editor scrolls when it next draws.
    await this.page.evaluate(
      () => new Promise(resolve => requestAnimationFrame(resolve))
    );
  }

  /** Where the user is: the line with the cursor, and where it is seen. */
  async look(): Promise<{
    line: number;
    text: string;
    column: number;
    selected: number;
    top: number;
    mark: string | null;
  }> {
    await this.page.evaluate(
      () => new Promise(resolve => requestAnimationFrame(resolve))
    );
    return this.page.evaluate(() => {
      const { currentWidget } = (window as unknown as Window).jupyterapp.shell;
      const view = currentWidget.content.editor.editor;
      const { head, anchor } = view.state.selection.main;
      const line = view.state.doc.lineAt(head);
      return {
        line: line.number,
        text: line.text,
        column: head - line.from,
        selected: head - anchor,
        top: Math.round(view.coordsAtPos(head).top),
        mark: view.scrollDOM.getAttribute('data-mark')
      };
    });
  }
}

/** The cells of the notebook in front. */
class CellsPage {
  constructor(readonly page: Page) {}

  sources(): Promise<Record<string, string>> {
    return this.page.evaluate(() => {
      const { currentWidget } = (window as unknown as Window).jupyterapp.shell;
      return Object.fromEntries(
        currentWidget.content.widgets.map(({ model }) => [
          model.id,
          model.sharedModel.getSource()
        ])
      );
    });
  }

  /** JupyterLab's elements do not tell the ids of their cells. */
  async cell(id: string): Promise<Locator> {
    const index = Object.keys(await this.sources()).indexOf(id);
    return this.page.locator('.jp-Notebook .jp-Cell').nth(index);
  }

  async output(id: string): Promise<Locator> {
    return (await this.cell(id)).locator('.jp-OutputArea-output');
  }

  async prompt(id: string): Promise<Locator> {
    return (await this.cell(id)).locator('.jp-InputArea-prompt');
  }

  /** Write at the beginning of a cell. */
  async edit(id: string, text: string): Promise<void> {
    await this._activate(id);
    await (await this.cell(id)).locator('.cm-content').click();
    await this.page.keyboard.press('Control+Home');
    await this.page.keyboard.insertText(text);
  }

  async run(): Promise<void> {
    await this._execute('notebook:run-all-cells');
  }

  async start(id: string): Promise<void> {
    await this._activate(id);
    await this.page.evaluate(() => {
      const { jupyterapp } = window as unknown as {
        jupyterapp: { commands: { execute(id: string): Promise<void> } };
      };
      void jupyterapp.commands.execute('notebook:run-cell');
    });
  }

  /** Mark the elements of all cells, to know them again. */
  async mark(): Promise<void> {
    await this.page.evaluate(() => {
      const { currentWidget } = (window as unknown as Window).jupyterapp.shell;
      for (const { node, model } of currentWidget.content.widgets) {
        node.mark = model.id;
      }
    });
  }

  /** The cells that are still the same elements. */
  marked(): Promise<string[]> {
    return this.page.evaluate(() => {
      const { currentWidget } = (window as unknown as Window).jupyterapp.shell;
      return currentWidget.content.widgets.flatMap(({ node, model }) =>
        node.mark === model.id ? [model.id] : []
      );
    });
  }

  private async _activate(id: string): Promise<void> {
    await this.page.evaluate(id => {
      const { content } = (window as unknown as Window).jupyterapp.shell
        .currentWidget;
      content.activeCellIndex = content.widgets.findIndex(
        each => each.model.id === id
      );
    }, id);
  }

  private async _execute(command: string): Promise<void> {
    await new ChatPage(this.page).execute(command);
  }
}
