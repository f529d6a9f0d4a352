// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { expect, test } from './browser';

import { ChatPage } from './chat';

test('a visitor without a key takes the whole tour', async ({ page }) => {
  test.setTimeout(180_000);
  const chat = new ChatPage(page);
  await page.goto('/lab');
  await chat.ready();

  // The tour is open, and the chat with the agent that is there: all there is to do is to type.
  const notebook = page.locator('.jp-NotebookPanel');
  await expect(
    notebook.getByRole('heading', { name: 'A tour of agents in JupyterLab' })
  ).toBeVisible();
  await expect(chat.input).toBeVisible();
  await expect(chat.input).toBeEnabled();
  await expect(
    chat.panel.getByText('Notebook Assistant').first()
  ).toBeVisible();
  await page.screenshot({ path: test.info().outputPath('arrival.png') });

  // Streaming.
  await chat.send('/stream 2000');
  await expect(chat.answers.last()).toContainText('2000', { timeout: 60_000 });

  // What the visitor sees.
  await chat.send('/workspace');
  await expect(chat.answers.last()).toContainText('tour.ipynb');

  // A diff, asked for and applied to the tour itself.
  await chat.send('/edit tour.ipynb Celsius => degrees Celsius');
  await chat.cards.getByRole('button', { name: 'Allow once' }).click();
  await expect(
    notebook.locator('.jp-CodeCell').getByText('in degrees Celsius')
  ).toBeVisible();
  await expect(chat.answers.last()).toContainText('Done');

  // A permission, and a terminal.
  await chat.send('/run python weather/mean.py');
  await chat.cards.getByRole('button', { name: 'Allow once' }).click();
  await expect(chat.log.getByText('12.3').last()).toBeVisible();
  await page.screenshot({ path: test.info().outputPath('tour.png') });

  // A session elsewhere, on the repository that came along, and back.
  await page.locator('.jp-DirListing').getByText('weather').dblclick();
  await expect(
    page.locator('.jp-DirListing').getByText('mean.py')
  ).toBeVisible();
  await chat.button('Sessions and agents').click();
  await chat.button('New remote session…').click();
  const setup = chat.panel.getByRole('region', { name: 'New remote session' });
  await expect(setup).toContainText('The remote has all of your work');
  await setup.getByRole('button', { name: 'Start' }).click();
  await expect(chat.input).toBeVisible({ timeout: 60_000 });
  await chat.send('/todo');
  await chat.cards.getByRole('button', { name: 'Allow once' }).click();
  const result = chat.log.getByRole('region', { name: /^Result 1 / });
  await expect(result).toContainText('ready for review', { timeout: 60_000 });
  await expect(result).toContainText('TODO.md');
  // The files are elsewhere: they are taken as a whole, or not.
  await expect(chat.log.getByText('1 file changed').last()).toBeVisible();
  await expect(chat.log.getByText('Undo all')).toHaveCount(0);
  await expect(chat.log.getByRole('button', { name: /^Undo/ })).toHaveCount(0);
  await page.screenshot({ path: test.info().outputPath('result.png') });
  await result.getByRole('button', { name: 'Merge: result' }).click();
  await expect(result.getByRole('status').first()).toHaveText('merged');
  await expect(
    page.locator('.jp-DirListing').getByText('TODO.md')
  ).toBeVisible();
});
