// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { type Locator, expect, test } from './browser';

import { ChatPage } from './chat';

function method(chat: ChatPage, name: string): Locator {
  return chat.panel.locator('.jp-acp-Login-method', { hasText: name });
}

async function begin(chat: ChatPage): Promise<Locator> {
  await chat.execute('jupyter-acp-bridge:new-session', { agent: 'guarded' });
  const login = chat.panel.getByRole('region', { name: 'Log in to Guarded' });
  await expect(login).toBeVisible();
  return login;
}

test('an agent that wants a login gets it, and the session begins by itself', async ({
  page
}) => {
  const chat = await ChatPage.open(page);
  const login = await begin(chat);
  await expect(login).toContainText('With an <b>account</b>');

  const wrong = method(chat, 'With a key');
  await wrong.getByRole('button', { name: 'Log in' }).click();
  await expect(wrong.getByRole('alert')).toHaveText('That key does not fit.');

  await method(chat, 'With an')
    .getByRole('button', { name: 'Log in' })
    .press('Enter');
  await expect(chat.input).toBeVisible();
  await expect(login).toHaveCount(0);
  await chat.send(JSON.stringify([['chunk', 'welcome']]));
  await expect(chat.answers).toHaveText(['welcome']);
  await chat.isIdle();

  await chat.send(JSON.stringify([['fail', -32000, 'Who are you again?']]));
  await expect(login).toBeVisible();
  await expect(chat.input).toHaveValue(/Who are you again/);
  await login.getByRole('button', { name: 'Cancel' }).click();
  await expect(login).toHaveCount(0);

  await chat.button('Sessions and agents').click();
  await chat.button('Log out of Guarded').click();
  await expect(page.getByText('Logged out of Guarded.')).toBeVisible();
  await begin(chat);
  await login.getByRole('button', { name: 'Cancel' }).click();
  await expect(chat.panel.getByText('Start a session')).toBeVisible();
});

test('whoever gives up a login is not called back when it is done', async ({
  page
}) => {
  const chat = await ChatPage.open(page);
  const login = await begin(chat);
  await method(chat, 'Slowly').getByRole('button', { name: 'Log in' }).click();
  await login.getByRole('button', { name: 'Cancel' }).click();
  await expect(chat.panel.getByText('Start a session')).toBeVisible();
  await page.waitForTimeout(3000);
  await expect(chat.panel.getByText('Start a session')).toBeVisible();
  await chat.button('Log out of Guarded').click();
  await expect(page.getByText('Logged out of Guarded.')).toBeVisible();
});

test('a command that logs in is shown, copied and run in a terminal', async ({
  page,
  context
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const chat = await ChatPage.open(page);
  const login = await begin(chat);
  const way = method(chat, 'In a terminal');
  await expect(way.locator('code')).toHaveText("echo log 'me; in'");
  await way.getByRole('button', { name: 'Copy the command' }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
    "echo log 'me; in'"
  );
  await way.getByRole('button', { name: 'Run in a terminal' }).click();
  await expect(page.locator('.jp-Terminal .xterm')).toBeVisible();
  await expect
    .poll(() =>
      page.evaluate(() => {
        const { jupyterapp } = window as unknown as {
          jupyterapp: {
            shell: {
              currentWidget: {
                content: {
                  _term?: {
                    buffer: {
                      active: {
                        length: number;
                        getLine(index: number): {
                          translateToString(trim: boolean): string;
                        };
                      };
                    };
                  };
                };
              } | null;
            };
          };
        };
        const term = jupyterapp.shell.currentWidget?.content._term;
        if (!term) {
          return '';
        }
        const { active } = term.buffer;
        // What is typed before the shell is there stands in front of what it prints.
        return Array.from({ length: active.length }, (_, index) =>
          active.getLine(index).translateToString(true)
        ).join('\n');
      })
    )
    .toContain('log me; in');
  await login.getByRole('button', { name: 'Try again' }).click();
  await expect(login).toBeVisible();
});

test('variables that are missing are named, and where to put them', async ({
  page
}) => {
  const chat = await ChatPage.open(page);
  await begin(chat);
  const way = method(chat, 'By variables');
  await expect(way.getByRole('listitem')).toHaveText([
    'GUARDED_KEY API keymissing',
    /^HOME\s*is set$/
  ]);
  await expect(way).toContainText('c.AcpExtension.agents["guarded"]["env"]');
  await expect(way.getByRole('link')).toHaveCount(0);
});
