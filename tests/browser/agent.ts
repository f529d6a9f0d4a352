// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import {
  type APIRequestContext,
  type Locator,
  type Page,
  expect
} from '@playwright/test';

import { ChatPage } from './chat';

export interface IDocument {
  uri: string;
  languageId: string;
  _meta: { 'jupyter-acp': Record<string, unknown> };
}

interface ISession {
  id: string;
  agent: string;
  cwd: string;
  seq: number;
  state: string;
}

/** JupyterLab with an agent that does what it is told, and tells what it got. */
export class AgentPage extends ChatPage {
  constructor(
    page: Page,
    private readonly _request: APIRequestContext
  ) {
    super(page);
  }

  static async begin(
    page: Page,
    request: APIRequestContext
  ): Promise<AgentPage> {
    const { page: opened } = await ChatPage.open(page);
    const agent = new AgentPage(opened, request);
    await agent.newSession('scripted');
    return agent;
  }

  /** Count a document as one of this test. */
  knows(name: string): void {
    this._names.add(name);
  }

  async put(path: string, content: unknown): Promise<void> {
    this.knows(path);
    const data =
      typeof content === 'string'
        ? { type: 'file', format: 'text', content }
        : { type: 'notebook', format: 'json', content };
    const answer = await this._request.put(`/api/contents/${path}`, { data });
    expect(answer.ok()).toBe(true);
  }

  async saved<T>(path: string): Promise<T> {
    let content: T | undefined;
    // A file that is being written cannot be read for a moment.
    await expect
      .poll(async () => {
        const answer = await this._request.get(`/api/contents/${path}`);
        ({ content } = (await answer.json()) as { content?: T });
        return content !== undefined;
      })
      .toBe(true);
    return content!;
  }

  /** Open a document and wait until it can be worked with. */
  async show(path: string): Promise<void> {
    await this.execute('docmanager:open', { path });
    await this.page.evaluate(async path => {
      const { jupyterapp } = window as unknown as {
        jupyterapp: {
          shell: {
            currentWidget: {
              context: {
                path: string;
                ready: Promise<void>;
                sessionContext: {
                  ready: Promise<void>;
                  session: {
                    kernel: { info: Promise<unknown> };
                  } | null;
                };
              };
            };
          };
        };
      };
      const { context } = jupyterapp.shell.currentWidget;
      await context.ready;
      if (path.endsWith('.ipynb')) {
        await context.sessionContext.ready;
        await context.sessionContext.session?.kernel.info;
      }
    }, path);
  }

  /** Wait until the document in front is of the file as it is: saving asks nothing then. */
  async knowsFile(path: string): Promise<void> {
    const url = `/api/contents/${path}?content=0&hash=1`;
    await expect
      .poll(async () => {
        const file = await this._request.get(url);
        const { hash } = (await file.json()) as { hash?: string };
        const known = await this.page.evaluate(() => {
          const { jupyterapp } = window as unknown as {
            jupyterapp: {
              shell: {
                currentWidget: {
                  context: { contentsModel?: { hash?: string } };
                };
              };
            };
          };
          return jupyterapp.shell.currentWidget.context.contentsModel?.hash;
        });
        return hash !== undefined && hash === known;
      })
      .toBe(true);
  }

  /** Let the agent send a request; return what it was answered. */
  ask<T>(method: string, params: object = {}): Promise<T> {
    return this.tell('request', method, params);
  }

  /** Let the agent do something; return what it says then. */
  async tell<T>(...step: unknown[]): Promise<T> {
    const before = (await this._said()).length;
    await this.send(JSON.stringify([step]));
    await expect
      .poll(async () => (await this._said()).length, { timeout: 30_000 })
      .toBeGreaterThan(before);
    await this.isIdle();
    return JSON.parse((await this._said()).pop()!) as T;
  }

  /** Let the agent do several things, and wait until it is done. */
  async play(...steps: unknown[][]): Promise<void> {
    const { seq } = await this._session();
    await this.send(JSON.stringify(steps));
    await expect
      .poll(
        async () => {
          const now = await this._session();
          return now.seq > seq && now.state === 'idle';
        },
        { timeout: 30_000 }
      )
      .toBe(true);
    await this.isIdle();
  }

  /** A step of the agent that lasts until there is a file, or half a minute. */
  async until(path: string): Promise<unknown[]> {
    const isThere = `[ -e '${await this.root()}/${path}' ]`;
    const wait = `for i in $(seq 300); do ${isThere} && break; sleep 0.1; done`;
    return ['shell', wait];
  }

  /** Everything that the agent has said in the latest session. */
  private async _said(): Promise<string[]> {
    const { id } = await this._session();
    const page = await this._request.get(
      `/acp/sessions/${id}/messages?limit=1000`
    );
    const { messages } = (await page.json()) as {
      messages: {
        params: {
          update?: { sessionUpdate: string; content: { text: string } };
        };
      }[];
    };
    return messages.flatMap(({ params: { update } }) =>
      update?.sessionUpdate === 'agent_message_chunk'
        ? [update.content.text]
        : []
    );
  }

  /** The open documents, but for those of windows of other tests. */
  async open(): Promise<Record<string, IDocument>> {
    const { documents } = await this.ask<{ documents: IDocument[] }>(
      'workspace/open_documents'
    );
    const named = documents.map(
      document =>
        [decodeURIComponent(document.uri.split('/').pop()!), document] as const
    );
    return Object.fromEntries(named.filter(([name]) => this._names.has(name)));
  }

  async active(): Promise<string | null> {
    const { document } = await this.ask<{ document: IDocument | null }>(
      'workspace/active_document'
    );
    return document && document.uri.split('/').pop()!;
  }

  /** The folder that the server shows, as agents know it. */
  async root(): Promise<string> {
    return (await this._session()).cwd;
  }

  /** The latest session. */
  private async _session(): Promise<ISession> {
    const listed = await this._request.get('/acp/sessions');
    const { sessions } = (await listed.json()) as { sessions: ISession[] };
    return sessions.find(({ agent }) => agent === 'scripted')!;
  }

  private readonly _names = new Set<string>();

  cell(index: number): Locator {
    return this.page
      .locator('.jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook .jp-Cell')
      .nth(index);
  }
}
