// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { type Locator, type Page, expect } from '@playwright/test';

interface ILab {
  restored: Promise<void>;
  commands: { execute(id: string, args?: object): Promise<unknown> };
}

interface ISettings {
  composite: Record<string, unknown>;
  set(key: string, value: unknown): Promise<void>;
}

let workspaces = 0;

/** The chat in one window of JupyterLab, in the words of the person using it. */
export class ChatPage {
  constructor(readonly page: Page) {}

  /** Open JupyterLab in a workspace of its own and show the panel. */
  static async open(page: Page): Promise<ChatPage> {
    const chat = new ChatPage(page);
    const workspace = `test-${process.pid}-${++workspaces}`;
    await page.goto(`/lab/workspaces/${workspace}`);
    await chat.ready();
    // It takes the focus when it comes, which may be late.
    await expect(page.locator('.jp-Launcher')).toBeVisible();
    await chat.execute('jupyter-acp-bridge:open');
    await expect(chat.panel).toBeVisible();
    return chat;
  }

  /** Open it and start a session with the built-in agent. */
  static async start(page: Page): Promise<ChatPage> {
    const chat = await ChatPage.open(page);
    await chat.newSession();
    return chat;
  }

  get panel(): Locator {
    return this.page.locator('#jp-acp-panel');
  }

  get input(): Locator {
    return this.panel.getByRole('textbox', { name: 'Message to the agent' });
  }

  get log(): Locator {
    return this.panel.getByRole('log');
  }

  get answers(): Locator {
    return this.log.getByRole('article', { name: 'Agent', exact: true });
  }

  get prompts(): Locator {
    return this.log.getByRole('article', { name: 'You' });
  }

  get cards(): Locator {
    return this.panel.locator('.jp-acp-Card');
  }

  button(name: string | RegExp): Locator {
    return this.panel.getByRole('button', { name });
  }

  async ready(): Promise<void> {
    await this.page.waitForFunction(() => 'jupyterapp' in window);
    await this.page.evaluate(
      () => (window as unknown as { jupyterapp: ILab }).jupyterapp.restored
    );
  }

  async execute(id: string, args: object = {}): Promise<void> {
    await this.page.evaluate(
      async ([command, given]) => {
        const { jupyterapp } = window as unknown as { jupyterapp: ILab };
        await jupyterapp.commands.execute(command as string, given as object);
      },
      [id, args]
    );
  }

  /** What is set in the settings editor; sets it first if there is something to set. */
  setting<T>(plugin: string, key: string, wanted?: T): Promise<T> {
    return this.page.evaluate(
      async ([plugin, key, wanted]) => {
        const { jupyterapp } = window as unknown as {
          jupyterapp: {
            pluginRegistry: {
              _services: Map<{ name: string }, string>;
              resolveOptionalService(token: unknown): Promise<{
                load(id: string): Promise<ISettings>;
              }>;
            };
          };
        };
        const registry = jupyterapp.pluginRegistry;
        const token = [...registry._services.keys()].find(({ name }) =>
          name.endsWith(':ISettingRegistry')
        );
        const settings = await (
          await registry.resolveOptionalService(token)
        ).load(`jupyter-acp-bridge:${plugin}`);
        if (wanted !== undefined) {
          await settings.set(key, wanted);
        }
        return settings.composite[key] as T;
      },
      [plugin, key, wanted] as [string, string, T | undefined]
    );
  }

  async newSession(agent = 'builtin'): Promise<void> {
    await this.execute('jupyter-acp-bridge:new-session', { agent });
    await expect(this.input).toBeVisible();
  }

  /** Send a message; then it is shown, and the session is busy or done with it. */
  async send(text: string): Promise<void> {
    await this.input.fill(text);
    // It comes a frame later, and with a long answer it soon leaves the page
    // again: this is the only way not to miss it.
    await this.log.evaluate(log => {
      // Agents tell what the user said, too.
      const prompt = '.jp-acp-mod-user:not(.jp-acp-mod-hearsay)';
      const isNew = ({ type, addedNodes }: MutationRecord): boolean =>
        type === 'attributes'
          ? log.ariaBusy === 'true'
          : Array.from(addedNodes).some(
              node =>
                node instanceof Element &&
                (node.matches(prompt) || node.querySelector(prompt) !== null)
            );
      const observer = new MutationObserver(changes => {
        if (changes.some(isNew)) {
          observer.disconnect();
          log.setAttribute('data-sent', '');
        }
      });
      log.removeAttribute('data-sent');
      observer.observe(log, {
        childList: true,
        subtree: true,
        attributeFilter: ['aria-busy']
      });
    });
    await this.input.press('Enter');
    await expect(this.log).toHaveAttribute('data-sent');
  }

  async isRunning(): Promise<void> {
    await expect(this.log).toHaveAttribute('aria-busy', 'true');
  }

  async isIdle(timeout = 30_000): Promise<void> {
    await expect(this.log).toHaveAttribute('aria-busy', 'false', { timeout });
  }

  async reload(): Promise<void> {
    await this.page.reload();
    await this.ready();
    await this.execute('jupyter-acp-bridge:open');
    await expect(this.input).toBeVisible();
  }

  /** Reload the page when JupyterLab has saved that it looks like this. */
  async reloadAs(isSaved: (workspace: string) => boolean): Promise<void> {
    const { pathname } = new URL(this.page.url());
    const name = pathname.split('/').pop()!;
    await expect
      .poll(async () => {
        const url = `/lab/api/workspaces/${name}`;
        const saved = await this.page.request.get(url);
        return isSaved(await saved.text());
      })
      .toBe(true);
    await this.page.reload();
    await this.ready();
  }

  /** The numbers from 1 to n, as `/stream n` writes them. */
  static numbers(count: number): string {
    return Array.from({ length: count }, (_, index) => index + 1).join(' ');
  }
}
