// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { type Locator, type Page, expect, test } from './browser';

import { ChatPage } from './chat';

/** The list, the tabs and the notifications, in the words of the person. */
class SessionsPage extends ChatPage {
  static override async start(page: Page): Promise<SessionsPage> {
    const { page: started } = await ChatPage.start(page);
    return new SessionsPage(started);
  }

  get tabs(): Locator {
    return this.panel.getByRole('tab');
  }

  get search(): Locator {
    return this.panel.getByRole('searchbox', { name: 'Search the sessions' });
  }

  /** Tabs of the main area that hold a session. */
  get mainTabs(): Locator {
    return this.page.locator('#jp-main-dock-panel .lm-TabBar-tab.jp-acp-Tab');
  }

  get main(): Locator {
    return this.page.locator('.jp-acp-Chat.jp-acp-mod-main');
  }

  get badge(): Locator {
    return this.page.locator('.lm-TabBar-tab[data-id="jp-acp-panel"]');
  }

  toast(text: string): Locator {
    return this.page.locator('.Toastify__toast', { hasText: text });
  }

  row(title: string): Locator {
    return this.panel
      .locator('.jp-acp-Session')
      .filter({ has: this.page.getByText(title, { exact: true }) });
  }

  async list(): Promise<void> {
    await this.button('Sessions and agents').click();
    await expect(this.search).toBeVisible();
  }

  async choose(title: string, item: string): Promise<void> {
    await this.row(title).hover();
    await this.row(title).getByRole('button', { name: 'Actions for' }).click();
    await this.page.getByRole('menuitem', { name: item }).click();
  }

  /** Fork the session that is shown; its menu stays as it was when it opened. */
  async fork(): Promise<void> {
    await expect(async () => {
      await this.button('Session actions').click();
      try {
        await this.page
          .getByRole('menuitem', { name: 'Fork' })
          .click({ timeout: 2000 });
      } catch (error) {
        await this.page.keyboard.press('Escape');
        throw error;
      }
    }).toPass();
  }

  /** Wait until JupyterLab has given the focus to its launcher, as it does. */
  async isSettled(): Promise<void> {
    await this.page.waitForFunction(() => {
      const { jupyterapp } = window as unknown as {
        jupyterapp: { shell: { currentWidget: object | null } };
      };
      return jupyterapp.shell.currentWidget !== null;
    });
  }

  /** Start a session and send a message that is its title, too. */
  async begin(prompt: string): Promise<void> {
    await this.newSession();
    await expect(this.prompts).toHaveCount(0);
    await this.send(prompt);
    await expect(this.prompts).toHaveText([prompt]);
  }
}

test('sessions are listed with what they are and how they stand, and searched', async ({
  page
}) => {
  const chat = await SessionsPage.start(page);
  await chat.send('/stream 41');
  await chat.isIdle();
  await chat.begin('/run echo listed');
  await expect(chat.cards).toHaveCount(1);
  await chat.list();
  await expect(chat.row('/stream 41')).toContainText('Done');
  await expect(chat.row('/stream 41')).toContainText('Notebook Assistant');
  await expect(chat.row('/stream 41')).toContainText('root');
  await expect(chat.row('/run echo listed')).toContainText('Waiting for you');
  await chat.search.fill('STREAM 41 assistant');
  await expect(chat.panel.locator('.jp-acp-Session')).toHaveCount(1);
  await expect(chat.row('/stream 41')).toBeVisible();
  await chat.search.fill('no such session');
  await expect(chat.panel).toContainText('No matching sessions.');
  await chat.search.fill('');
  await chat.row('/run echo listed').getByRole('button').first().click();
  await chat.cards
    .getByRole('button', { name: /reject/i })
    .first()
    .click();
  await chat.isIdle();
});

test('sessions are opened again, renamed in place and deleted', async ({
  page
}) => {
  const chat = await SessionsPage.start(page);
  await chat.send('/stream 7');
  await chat.isIdle();
  await chat.newSession();
  await expect(chat.prompts).toHaveCount(0);
  await chat.list();
  await chat.row('/stream 7').getByRole('button').first().click();
  await expect(chat.answers).toHaveText([ChatPage.numbers(7)]);

  await chat.isSettled();
  await chat.list();
  await chat.choose('/stream 7', 'Rename');
  const field = chat.panel.getByRole('textbox', {
    name: 'Title of the session'
  });
  await expect(field).toBeFocused();
  await field.fill('given up');
  await field.press('Escape');
  await expect(chat.row('/stream 7')).toBeVisible();
  await chat.choose('/stream 7', 'Rename');
  await field.fill('Seven numbers');
  await field.press('Enter');
  await expect(chat.row('Seven numbers')).toBeVisible();
  await expect(chat.tabs.filter({ hasText: 'Seven numbers' })).toHaveCount(1);

  await chat.choose('Seven numbers', 'Delete');
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('“Seven numbers” and its transcript');
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await expect(chat.row('Seven numbers')).toHaveCount(0);
  await expect(chat.tabs).toHaveCount(0);
});

test('several sessions are open in the side panel, reached by keyboard and restored', async ({
  page
}) => {
  const chat = await SessionsPage.start(page);
  await chat.send('/stream 11');
  await chat.isIdle();
  await expect(chat.tabs).toHaveCount(0);
  await chat.begin('/stream 12');
  await chat.isIdle();
  await expect(chat.tabs).toHaveCount(2);
  await expect(chat.tabs.nth(1)).toHaveAttribute('aria-selected', 'true');

  await chat.tabs.nth(1).focus();
  await page.keyboard.press('ArrowLeft');
  await expect(chat.tabs.nth(0)).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(chat.answers).toHaveText([ChatPage.numbers(11)]);
  await chat.input.fill('half a thought');

  await chat.reload();
  await expect(chat.tabs).toHaveCount(2);
  await expect(chat.tabs.nth(0)).toHaveAttribute('aria-selected', 'true');
  await expect(chat.answers).toHaveText([ChatPage.numbers(11)]);
  await expect(chat.input).toHaveValue('half a thought');
  await chat.tabs.nth(1).click();
  await expect(chat.answers).toHaveText([ChatPage.numbers(12)]);

  await chat.tabs.nth(1).focus();
  await page.keyboard.press('Delete');
  await expect(chat.tabs).toHaveCount(0);
  await expect(chat.answers).toHaveText([ChatPage.numbers(11)]);
  await chat.list();
  await expect(chat.row('/stream 12')).toContainText('Done');
});

test('a session in the main area tells how it stands and is there after a reload', async ({
  page
}) => {
  const chat = await SessionsPage.start(page);
  await chat.send('/run echo in the main area');
  await expect(chat.cards).toHaveCount(1);
  await chat.button('Session actions').click();
  await page.getByRole('menuitem', { name: 'Open in a Tab' }).click();
  await expect(chat.main.locator('.jp-acp-Card')).toHaveCount(1);
  await expect(chat.mainTabs).toHaveText(['/run echo in the main area']);
  await expect(chat.mainTabs).toHaveClass(/jp-acp-mod-waiting/);
  await expect(chat.cards).toHaveCount(0);

  await chat.reloadAs(saved =>
    /"widgets":\s*\[[^\]]*"jupyter-acp-bridge:/.test(saved)
  );
  await expect(chat.mainTabs).toHaveText(['/run echo in the main area']);
  await chat.main.getByRole('button', { name: 'Allow once' }).click();
  await expect(chat.mainTabs).toHaveClass(/jp-acp-mod-done/);
  await expect(
    chat.main.getByRole('article', { name: 'Agent' }).last()
  ).toContainText('exit status 0');
  const input = chat.main.getByRole('textbox', {
    name: 'Message to the agent'
  });
  await input.fill('/stream 5');
  await input.press('Enter');
  await expect(
    chat.main.getByRole('article', { name: 'Agent' }).last()
  ).toHaveText(ChatPage.numbers(5));

  await chat.main.getByRole('button', { name: 'Session actions' }).click();
  await page.getByRole('menuitem', { name: 'Move to the Side Panel' }).click();
  await expect(chat.mainTabs).toHaveCount(0);
  await expect(chat.answers.last()).toHaveText(ChatPage.numbers(5));
});

test('a workspace begins with a session if it says so, and has it in another window', async ({
  page,
  context,
  request
}) => {
  const workspace = `laid-out-${process.pid}`;
  const address = `/lab/api/workspaces/${workspace}`;
  const data = {
    'jupyter-acp-bridge-panel:open-sessions': { agent: 'builtin' }
  };
  await request.put(address, { data: { metadata: { id: workspace }, data } });
  const open = async (page: Page): Promise<SessionsPage> => {
    const chat = new SessionsPage(page);
    await page.goto(`/lab/workspaces/${workspace}`);
    await chat.ready();
    await chat.execute('jupyter-acp-bridge:open');
    await expect(chat.input).toBeVisible();
    return chat;
  };
  const chat = await open(page);
  await chat.send('/stream 7');
  await expect(chat.answers).toHaveText([ChatPage.numbers(7)]);
  await expect
    .poll(async () => (await request.get(address)).text())
    .toMatch(/open-sessions":\s*{"tabs":\s*\["/);
  // Nothing is left in this window.
  await page.close();
  const other = await open(await context.newPage());
  await expect(other.answers).toHaveText([ChatPage.numbers(7)]);
  await expect(other.tabs).toHaveCount(0);
});

test('a session is closed, and the next message opens it again', async ({
  page
}) => {
  const chat = await ChatPage.start(page);
  await chat.send('/stream 3');
  await expect(chat.answers).toHaveCount(1);
  await chat.isIdle();
  await chat.button('Session actions').click();
  await page.getByRole('menuitem', { name: 'Close', exact: true }).click();
  const state = async (): Promise<string> => {
    const listed = await page.request.get('/acp/sessions');
    const { sessions } = (await listed.json()) as {
      sessions: { title: string; state: string }[];
    };
    return sessions.find(({ title }) => title === '/stream 3')!.state;
  };
  await expect.poll(state).toBe('closed');
  await expect(chat.answers).toHaveText([/1 2 3/]);
  await chat.send('/stream 4');
  await expect(chat.answers.last()).toContainText('1 2 3 4');
  await expect.poll(state).toBe('idle');
});

test('a fork has the past and goes its own way', async ({ page }) => {
  const chat = await SessionsPage.start(page);
  await chat.send('/stream 21');
  await chat.isIdle();
  await chat.fork();
  await expect(chat.log).toContainText('Forked from “/stream 21”.');
  await expect(chat.answers).toHaveText([ChatPage.numbers(21)]);
  await chat.send('/stream 22');
  await chat.isIdle();
  await expect(chat.answers).toHaveText([
    ChatPage.numbers(21),
    ChatPage.numbers(22)
  ]);
  await chat.tabs.first().click();
  await expect(chat.answers).toHaveText([ChatPage.numbers(21)]);
  await expect(chat.log).not.toContainText('Forked');
});

test('an agent that cannot fork is told what was said', async ({ page }) => {
  const chat = new SessionsPage((await ChatPage.open(page)).page);
  await chat.newSession('scripted');
  await chat.send(JSON.stringify([['chunk', 'hello']]));
  await expect(chat.answers).toHaveText(['hello']);
  await chat.isIdle();
  await chat.fork();
  await expect(chat.log).toContainText(
    'Scripted cannot fork: with your first message it is told what was said before.'
  );
  await expect(chat.answers).toHaveText(['hello']);
  await chat.send(JSON.stringify([['prompt']]));
  await expect(chat.answers.last()).toContainText('Agent: hello');
  await chat.isIdle();
});

test('sessions are found by what was said in them', async ({ page }) => {
  const chat = new SessionsPage((await ChatPage.open(page)).page);
  const word = `needle${Date.now()}`;
  await chat.newSession('scripted');
  await chat.send(JSON.stringify([['chunk', `There is a ${word} in here.`]]));
  await chat.isIdle();
  await chat.newSession('scripted');
  await chat.send(JSON.stringify([['chunk', 'Nothing.']]));
  await chat.isIdle();
  await chat.list();
  await chat.search.fill(word.slice(0, -2));
  const found = chat.panel.locator('.jp-acp-Session');
  await expect(found).toHaveCount(1);
  await expect(found.locator('mark').first()).toHaveText(word);
  await found.getByRole('button').first().click();
  await expect(chat.answers).toHaveText([`There is a ${word} in here.`]);
});

test('a session is downloaded, deleted and imported again', async ({
  page
}) => {
  const chat = new SessionsPage((await ChatPage.open(page)).page);
  const title = `Journey ${Date.now()}`;
  await chat.newSession('scripted');
  await chat.send(JSON.stringify([['chunk', title]]));
  await chat.isIdle();
  const downloading = page.waitForEvent('download');
  await chat.button('Session actions').click();
  await page.getByRole('menuitem', { name: 'Download as JSON Lines' }).click();
  const file = await (await downloading).path();
  await chat.button('Session actions').click();
  await page.getByRole('menuitem', { name: 'Delete…' }).click();
  await page
    .locator('.jp-Dialog')
    .getByRole('button', { name: 'Delete' })
    .click();
  await expect(chat.search).toBeVisible();
  const choosing = page.waitForEvent('filechooser');
  await chat.button('Import sessions (JSON Lines)').click();
  await (await choosing).setFiles(file);
  await expect(chat.answers).toHaveText([title]);

  // What is no session is refused, and says why.
  await chat.list();
  const again = page.waitForEvent('filechooser');
  await chat.button('Import sessions (JSON Lines)').click();
  await (
    await again
  ).setFiles({
    name: 'no.jsonl',
    mimeType: 'text/plain',
    buffer: Buffer.from('{"a": 1}\n')
  });
  const dialog = page.locator('.jp-Dialog');
  await expect(dialog).toContainText('no.jsonl was not imported');
  await expect(dialog).toContainText('line 1: this is not a session');
  await dialog.getByRole('button').last().click();
});

test('a session that was begun elsewhere is taken over', async ({ page }) => {
  const chat = new SessionsPage((await ChatPage.open(page)).page);
  await chat.newSession('traveller');
  await chat.list();
  await chat.panel.getByText('Started outside JupyterLab').click();
  await chat.panel
    .locator('.jp-acp-Foreign', { hasText: 'Begun in a terminal' })
    .getByRole('button')
    .click();
  // Here, nobody has heard the user say that.
  await expect(chat.prompts).toHaveText([
    'You, according to the agentWhat is this?'
  ]);
  await expect(chat.answers).toHaveText(['Something from a terminal.']);
  await chat.send(JSON.stringify([['whoami']]));
  await expect(chat.answers.last()).toHaveText('elsewhere');
  await chat.isIdle();
  await chat.list();
  await expect(chat.panel.getByText('Started outside JupyterLab')).toHaveCount(
    0
  );
});

test('what takes long says how long, and how long it may', async ({ page }) => {
  const chat = new SessionsPage((await ChatPage.open(page)).page);
  const creating = chat.execute('jupyter-acp-bridge:new-session', {
    agent: 'slow'
  });
  await expect(chat.panel.locator('.jp-acp-Patience')).toHaveText(
    /Starting the agent… \d+ s, of at most 240 s/
  );
  await creating;
  await expect(chat.panel.locator('.jp-acp-Patience')).toHaveCount(0);
  await chat.send(JSON.stringify([['sleep', 12]]));
  await expect(chat.log.locator('.jp-acp-Working')).toContainText(/0:1\d/);
  await chat.isIdle();
});

test('a session is exported to markdown and to a notebook, next to others of that name', async ({
  page,
  request
}) => {
  const chat = await SessionsPage.start(page);
  await chat.newSession('scripted');
  const said = 'See:\n\n```python\nprint(1)\n```\n\nDone.';
  await chat.send(JSON.stringify([['chunk', said]]));
  await chat.isIdle();
  const title = `Export ${Date.now()}`;
  await chat.panel.locator('.jp-acp-Header-title').dblclick();
  const field = chat.panel.getByRole('textbox', {
    name: 'Title of the session'
  });
  await field.fill(title);
  await field.press('Enter');
  await expect(chat.panel.locator('.jp-acp-Header-title')).toHaveText(title);

  const name = title.replace(' ', '-');
  for (const [item, file] of [
    ['Export to Markdown', `${name}.md`],
    ['Export to Markdown', `${name}-1.md`],
    ['Export to a Notebook', `${name}.ipynb`]
  ]) {
    await chat.button('Session actions').click();
    await page.getByRole('menuitem', { name: item }).click();
    await expect(
      page.locator('#jp-main-dock-panel .lm-TabBar-tab', { hasText: file })
    ).toHaveCount(1);
  }
  const read = async (file: string) =>
    (
      (await (await request.get(`/api/contents/${file}`)).json()) as {
        content: unknown;
      }
    ).content;
  expect(await read(`${name}.md`)).toContain('```python\nprint(1)\n```');
  const { cells } = (await read(`${name}.ipynb`)) as {
    cells: { cell_type: string; source: string }[];
  };
  expect(
    cells.filter(cell => cell.cell_type === 'code').map(cell => cell.source)
  ).toEqual(['print(1)']);
  await expect(page.locator('.jp-Notebook .jp-CodeCell')).toHaveCount(1);
});

test('a session that waits in the background calls, and Show leads there', async ({
  page
}) => {
  const chat = await SessionsPage.start(page);
  const waiting = async () =>
    Number(await chat.badge.getAttribute('data-acp-waiting'));
  const before = await waiting();
  await chat.send('/run echo in the background');
  await expect(chat.cards).toHaveCount(1);
  await expect.poll(waiting).toBe(before + 1);
  // It is in front: there is nothing to tell.
  await expect(chat.toast('/run echo in the background')).toHaveCount(0);
  await chat.cards
    .getByRole('button', { name: /reject/i })
    .first()
    .click();
  await chat.isIdle();
  await expect.poll(waiting).toBe(before);

  // Longer than a busy machine takes to get away from it.
  await chat.begin('/slow 6');
  await chat.send('/run echo once more');
  await chat.tabs.first().click();
  const toast = chat.toast('“/slow 6” waits for you.');
  await expect(toast).toBeVisible();
  await expect.poll(waiting).toBe(before + 1);
  await toast.getByRole('button', { name: 'Show' }).click();
  await expect(chat.cards).toContainText('echo once more');
  await expect(toast).toHaveCount(0);
  await chat.cards.getByRole('button', { name: 'Allow once' }).click();
  await chat.isIdle();
  await expect.poll(waiting).toBe(before);
});

test('a session that ends in the background says so, also to a hidden panel after a reload', async ({
  page,
  request
}) => {
  const chat = await SessionsPage.start(page);
  await chat.begin('/slow 6');
  await chat.tabs.first().click();
  const done = chat.toast('“/slow 6” is done.');
  await expect(done).toBeVisible();
  await done.getByRole('button', { name: 'Show' }).click();
  await expect(chat.answers).toContainText('Done.');

  // It ends when it is told to, however long the page takes to load again.
  const file = `end-${Date.now()}.txt`;
  await chat.send(`/run until [ -e ${file} ]; do sleep 0.1; done`);
  await chat.cards.getByRole('button', { name: 'Allow once' }).click();
  await expect(chat.cards).toHaveCount(0);
  await chat.isRunning();
  await chat.execute('application:toggle-right-area');
  const listed = page.waitForResponse(/\/acp\/sessions(\?|$)/);
  await chat.reloadAs(saved => /"right":\s*{"collapsed":\s*true/.test(saved));
  await expect(chat.panel).toBeHidden();
  await (await listed).finished();
  await request.put(`/api/contents/${file}`, {
    data: { type: 'file', format: 'text', content: '' }
  });
  await expect(done).toBeVisible();
  await done.getByRole('button', { name: 'Show' }).click();
  await expect(chat.answers.last()).toContainText('exit status 0');
});

test('who does not want to hear of ends does not', async ({
  page,
  request
}) => {
  const settings =
    '/lab/api/settings/jupyter-acp-bridge:notifications?override=';
  await request.put(settings, { data: { raw: '{"finished": false}' } });
  try {
    const chat = await SessionsPage.start(page);
    await chat.send('/slow 1');
    await chat.begin('/run echo told');
    await expect(chat.cards).toHaveCount(1);
    await expect(chat.tabs.first()).toHaveAccessibleName('/slow 1, Done');
    await chat.list();
    await chat.choose('/run echo told', 'Delete');
    await page
      .getByRole('dialog')
      .getByRole('button', { name: 'Delete' })
      .click();
    await expect(chat.row('/run echo told')).toHaveCount(0);
    await expect(chat.toast('/slow 1')).toHaveCount(0);
  } finally {
    await request.put(settings, { data: { raw: '{}' } });
  }
});

test('a thousand sessions are listed a few at a time and searched as one', async ({
  page
}) => {
  const sessions = Array.from({ length: 1000 }, (_, index) => ({
    id: `many-${index}`,
    agent: 'builtin',
    title: `Number ${index} of many`,
    cwd: '/somewhere/else',
    state: 'idle',
    updated: new Date(2026, 0, 1, 0, 0, 1000 - index).toISOString()
  }));
  await page.route(/\/acp\/sessions(\?|$)/, route =>
    route.fulfill({ json: { sessions } })
  );
  const chat = new SessionsPage((await ChatPage.open(page)).page);
  const rows = chat.panel.locator('.jp-acp-Session');
  await expect(rows).toHaveCount(50);
  await chat.button('Show more (950)').click();
  await expect(rows).toHaveCount(100);
  await chat.search.fill('number 999 elsewhere');
  await expect(rows).toHaveCount(0);
  await chat.search.fill('number 999 else');
  await expect(rows).toHaveText([/Number 999 of many/]);
});
