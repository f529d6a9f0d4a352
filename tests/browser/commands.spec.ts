// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { expect, test } from './browser';

import { ChatPage } from './chat';

const id = (name: string): string => `jupyter-acp-bridge:${name}`;

test('a session has a menu of JupyterLab, by the right button and by its own', async ({
  page
}) => {
  const chat = await ChatPage.start(page);
  const header = chat.panel.locator('.jp-acp-Header-titles');
  await header.click({ button: 'right' });
  await expect(page.getByRole('menuitem', { name: 'Fork' })).toBeVisible();
  await page.keyboard.press('Escape');
  const actions = chat.button('Session actions');
  await actions.focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('menuitem', { name: 'Rename' })).toBeVisible();
  // It is in the side panel already.
  const move = page.getByRole('menuitem', { name: 'Move to the Side Panel' });
  await expect(move).toHaveCount(0);
  await page.keyboard.press('Escape');
  await expect(actions).toBeFocused();
});

test('what can be done with a session are commands', async ({ page }) => {
  const chat = await ChatPage.start(page);
  await chat.send('/stream 3');
  await chat.isIdle();
  await chat.execute(id('rename-session'), { title: 'Three' });
  const header = chat.panel.locator('.jp-acp-Header-title');
  await expect(header).toHaveText('Three');
  await chat.execute(id('rename-session'));
  const field = chat.panel.getByRole('textbox', {
    name: 'Title of the session'
  });
  await expect(field).toBeFocused();
  await field.fill('Four');
  await field.press('Enter');
  await expect(header).toHaveText('Four');
  await chat.execute(id('fork-session'));
  await expect(chat.answers).toHaveText([ChatPage.numbers(3)]);
  await chat.input.fill('/stream 5');
  await chat.execute(id('send-message'));
  await expect(chat.answers.last()).toHaveText(ChatPage.numbers(5));
  await chat.isIdle();
  await chat.send('/slow 60');
  await expect(chat.button('Stop')).toBeVisible();
  await chat.execute(id('stop-turn'));
  await expect(chat.log).toContainText('Stopped by you.');
});

test('the keys for them can be changed, also those while typing', async ({
  page
}) => {
  const chat = await ChatPage.start(page);
  await page.evaluate(async command => {
    const { jupyterapp } = window as unknown as {
      jupyterapp: {
        commands: {
          addKeyBinding(binding: object): void;
          keyBindings: { command: string; keys: string[] }[];
        };
      };
    };
    jupyterapp.commands.addKeyBinding({
      command,
      keys: ['Ctrl M'],
      selector: '.jp-acp-Prompt-input'
    });
  }, id('send-message'));
  await chat.input.fill('/stream 4');
  await chat.input.press('Control+m');
  await expect(chat.answers).toHaveText([ChatPage.numbers(4)]);
});
