// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  writeFileSync
} from 'node:fs';
import { join } from 'node:path';

import {
  type APIRequestContext,
  type Locator,
  type Page,
  expect
} from '@playwright/test';

import { AgentPage } from './agent';

/** A repository in the server's folder, with a remote next to it. */
export class Repository {
  constructor(
    readonly root: string,
    readonly name: string,
    files: Record<string, string>
  ) {
    mkdirSync(join(root, name));
    this._run(join(root, name), 'init', '-q', '--bare', 'origin.git');
    this._run(join(root, name), 'init', '-q', '-b', 'main', 'project');
    this.git('config', 'user.name', 'Ada');
    this.git('config', 'user.email', 'ada@example.org');
    this.git('remote', 'add', 'origin', this.url);
    // JupyterLab makes copies of what it opens.
    this.commit({ ...files, '.gitignore': '.ipynb_checkpoints\n' });
    this.git('push', '-q', '-u', 'origin', 'main');
  }

  get url(): string {
    return `file://${join(this.root, this.name, 'origin.git')}`;
  }

  /** As the file browser names it. */
  get folder(): string {
    return `${this.name}/project`;
  }

  git(...args: string[]): string {
    return this._run(join(this.root, this.folder), ...args);
  }

  write(files: Record<string, string>): void {
    for (const [name, text] of Object.entries(files)) {
      writeFileSync(join(this.root, this.folder, name), text);
    }
  }

  commit(files: Record<string, string>): void {
    this.write(files);
    this.git('add', '--all');
    this.git('commit', '-q', '-m', `Write ${Object.keys(files).join(', ')}`);
  }

  /** Null if there is none. */
  read(name: string): string | null {
    const path = join(this.root, this.folder, name);
    return existsSync(path) ? readFileSync(path, 'utf-8') : null;
  }

  get files(): string[] {
    return readdirSync(join(this.root, this.folder)).filter(
      name => !name.startsWith('.')
    );
  }

  private _run(cwd: string, ...args: string[]): string {
    return execFileSync('git', args, {
      cwd,
      env: { PATH: process.env.PATH, HOME: cwd, GIT_CONFIG_NOSYSTEM: '1' }
    })
      .toString()
      .trim();
  }
}

/** The page before a remote session, and the cards of what comes back. */
export class RemotePage extends AgentPage {
  static override async begin(
    page: Page,
    request: APIRequestContext
  ): Promise<RemotePage> {
    const { page: begun } = await AgentPage.begin(page, request);
    return new RemotePage(begun, request);
  }

  get setup(): Locator {
    return this.panel.getByRole('region', { name: 'New remote session' });
  }

  get folder(): Locator {
    return this.setup.getByLabel('Folder');
  }

  get mark(): Locator {
    return this.panel.getByRole('img', { name: /^Remote session on / });
  }

  choice(name: string | RegExp): Locator {
    return this.setup.getByRole('radio', { name });
  }

  result(number: number): Locator {
    return this.log.getByRole('region', {
      name: new RegExp(`^Result ${number} `)
    });
  }

  /** From the menu to the page, and there to a folder. */
  async prepare(folder: string): Promise<void> {
    await this.button('New session').click();
    await this.page
      .getByRole('menuitem', { name: 'New Remote Session…' })
      .click();
    await expect(this.folder).toBeFocused();
    await this.folder.fill(folder);
    await this.folder.press('Enter');
    await this.setup
      .getByRole('combobox', { name: 'Agent' })
      .selectOption('scripted');
  }

  async start(): Promise<void> {
    await this.setup.getByRole('button', { name: 'Start' }).click();
    await expect(this.input).toBeVisible({ timeout: 30_000 });
    await expect(this.mark.first()).toBeVisible();
  }

  /** Begin a session with what is on the remote. */
  async startOn(repository: Repository): Promise<void> {
    await this.prepare(repository.folder);
    await expect(this.setup).toContainText('The remote has all of your work');
    await this.start();
  }

  /** Let the agent work, and wait until what it did is here. */
  async work(number: number, ...steps: unknown[][]): Promise<Locator> {
    await this.play(...steps);
    const card = this.result(number);
    await expect(card).toContainText('ready for review', { timeout: 30_000 });
    return card;
  }

  async act(card: Locator, name: string): Promise<void> {
    // What is in it would push the buttons away.
    await expect(card).not.toContainText('Reading the result…');
    await card.getByRole('button', { name: `${name}: result` }).click();
  }
}
