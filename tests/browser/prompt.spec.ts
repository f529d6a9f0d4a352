// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { type Page, expect, test } from './browser';

import { AgentPage } from './agent';
import { ChatPage } from './chat';
import { type INotebook, code } from './documents';

/** The smallest of pictures. */
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const NOTEBOOK: INotebook = {
  nbformat: 4,
  nbformat_minor: 5,
  metadata: { kernelspec: { name: 'python3', display_name: 'Python 3' } },
  cells: [
    code('one', 'import os'),
    {
      ...code('two', 'print("shown")'),
      outputs: [{ output_type: 'stream', name: 'stdout', text: 'shown\n' }]
    }
  ]
};

/** Give the prompt a file as the clipboard or the desktop would. */
async function give(
  page: Page,
  how: 'paste' | 'drop',
  name: string,
  type: string,
  base64: string
): Promise<void> {
  await page.locator('#jp-acp-panel .jp-acp-Prompt-input').evaluate(
    (node, [how, name, type, base64]) => {
      const bytes = Uint8Array.from(atob(base64), c => c.charCodeAt(0));
      const data = new DataTransfer();
      data.items.add(new File([bytes], name, { type }));
      const options = { bubbles: true, cancelable: true };
      node.dispatchEvent(
        how === 'paste'
          ? new ClipboardEvent('paste', { ...options, clipboardData: data })
          : new DragEvent('drop', { ...options, dataTransfer: data })
      );
    },
    [how, name, type, base64]
  );
}

/** Send messages until the agent is told that: the server hears of what changes a moment later. */
async function tellOf(agent: AgentPage, words: string): Promise<void> {
  await expect(async () => {
    await agent.send('Look');
    await agent.isIdle();
    const prompt = agent.prompts.last();
    await prompt.getByText('Editor context').click({ timeout: 5000 });
    await expect(prompt.locator('.jp-acp-Told')).toContainText(words, {
      timeout: 5000
    });
  }).toPass({ timeout: 30_000 });
}

test('cells, outputs and files are mentioned with an at sign', async ({
  page,
  request
}) => {
  const agent = await AgentPage.begin(page, request);
  await agent.newSession('builtin');
  await agent.put('mention.ipynb', NOTEBOOK);
  await agent.put('mention-me.csv', 'a,b\n');
  await agent.show('mention.ipynb');
  const options = agent.panel.getByRole('listbox').getByRole('option');
  await agent.input.pressSequentially('What does @cell-2');
  await expect(options).toHaveCount(1);
  await expect(options).toContainText('print("shown")');
  await agent.input.press('Enter');
  await expect(agent.input).toHaveValue('What does @cell-2 ');
  await agent.input.pressSequentially('print, @output');
  await expect(options.first()).toContainText('shown');
  await agent.input.press('Tab');
  await agent.input.pressSequentially('and @mention-me');
  await expect(options).toHaveCount(1);
  await options.click();
  await agent.panel.getByRole('switch').click();
  await agent.input.press('Enter');
  const prompt = agent.prompts.last();
  await expect(prompt).toContainText(
    'What does @cell-2 print, @output-2 and @mention-me.csv'
  );
  await expect(prompt).toContainText('mention.ipynb: cell 2');
  await expect(
    prompt.getByRole('button', { name: 'mention-me.csv' })
  ).toBeVisible();
  await agent.isIdle();
  await expect(agent.answers.last()).toContainText('mention-me.csv');
  // Links lead to the documents.
  await prompt.getByRole('button', { name: 'mention-me.csv' }).click();
  await expect(
    page.locator('.jp-CSVViewer, .jp-FileEditor').last()
  ).toBeVisible();
});

test('a mention that is deleted is not sent, what was dropped stays', async ({
  page,
  request
}) => {
  const agent = await AgentPage.begin(page, request);
  await agent.put('deleted.csv', 'a,b\n');
  await give(page, 'drop', 'words.txt', 'text/plain', btoa('some words'));
  const attached = agent.panel.locator('.jp-acp-Attachment');
  await expect(attached.filter({ hasText: 'words.txt' })).toBeVisible();
  await agent.input.pressSequentially('Read @deleted');
  const options = agent.panel.getByRole('listbox').getByRole('option');
  await expect(options).toHaveCount(1);
  await agent.input.press('Enter');
  await expect(attached.filter({ hasText: 'deleted.csv' })).toBeVisible();
  await agent.input.press('Backspace');
  await expect(attached.filter({ hasText: 'deleted.csv' })).toBeVisible();
  await agent.input.press('Control+Backspace');
  await expect(attached.filter({ hasText: 'deleted.csv' })).toHaveCount(0);
  await agent.input.fill('');
  await expect(attached.filter({ hasText: 'words.txt' })).toBeVisible();
});

test('where the user is goes with the message, unless turned off', async ({
  page,
  request
}) => {
  const agent = await AgentPage.begin(page, request);
  await agent.newSession('builtin');
  await agent.put('here.ipynb', NOTEBOOK);
  await agent.put('here.py', 'first\nsecond\nthird\n');
  await agent.show('here.ipynb');
  const chip = agent.panel.getByRole('switch');
  await expect(chip).toHaveText('here.ipynb: cell 1');
  await agent.cell(1).locator('.cm-content').click();
  await expect(chip).toHaveText('here.ipynb: cell 2');
  await tellOf(agent, 'The user is in cell 2 (id two, code');

  await agent.show('here.py');
  await expect(chip).toHaveText('here.py');
  await page.locator('.jp-FileEditor .cm-content').click();
  await page.keyboard.press('Control+Home');
  await page.keyboard.press('Shift+ArrowDown');
  await page.keyboard.press('Shift+End');
  await expect(chip).toHaveText('here.py: 2 lines');
  await tellOf(agent, 'Selected in it:\n```python\nfirst\nsecond\n```');

  await chip.click();
  await expect(chip).toHaveAttribute('aria-checked', 'false');
  await agent.send('Nothing else');
  await agent.isIdle();
  await expect(agent.prompts.last()).toHaveText('Nothing else');
});

test('pictures are pasted and texts dropped, and come back if not sent', async ({
  page
}) => {
  const chat = await ChatPage.start(page);
  await give(page, 'paste', 'pixel.png', 'image/png', PIXEL);
  await give(page, 'drop', 'words.txt', 'text/plain', btoa('some words'));
  const attached = chat.panel.locator('.jp-acp-Attachment');
  await expect(
    attached.filter({ hasText: 'pixel.png' }).locator('img')
  ).toBeVisible();
  await expect(attached.filter({ hasText: 'words.txt' })).toBeVisible();
  await chat.input.fill('See these');
  await chat.reload();
  await expect(chat.input).toHaveValue('See these');
  await expect(attached.filter({ hasText: 'pixel.png' })).toBeVisible();
  await chat.input.press('Enter');
  const prompt = chat.prompts.last();
  await expect(prompt.getByRole('img')).toBeVisible();
  await expect(prompt).toContainText('words.txt');
  await chat.isIdle();
  await give(page, 'drop', 'program.bin', '', btoa('\0\0\0'));
  await expect(chat.panel.getByRole('alert')).toContainText(
    'neither text nor an image'
  );
});

test('a picture is refused where the agent takes none', async ({
  page,
  request
}) => {
  const agent = await AgentPage.begin(page, request);
  await give(page, 'paste', 'pixel.png', 'image/png', PIXEL);
  await expect(agent.panel.getByRole('alert')).toContainText(
    'does not accept images'
  );
  await expect(agent.panel.locator('.jp-acp-Attachment img')).toHaveCount(0);
});

test('a file is dragged from the file browser into the message', async ({
  page,
  request
}) => {
  const agent = await AgentPage.begin(page, request);
  await agent.put('dragged.txt', 'x');
  await agent.execute('filebrowser:refresh');
  const item = page.locator('.jp-DirListing-item', { hasText: 'dragged.txt' });
  await item.hover();
  await page.mouse.down();
  const box = (await agent.input.boundingBox())!;
  await page.mouse.move(box.x + 20, box.y - 200, { steps: 5 });
  await page.mouse.move(box.x + 20, box.y + 10, { steps: 5 });
  await page.mouse.up();
  await expect(
    agent.panel.locator('.jp-acp-Attachment', { hasText: 'dragged.txt' })
  ).toBeVisible();
});

test('a cell is dragged out of its notebook into the message', async ({
  page,
  request
}) => {
  const agent = await AgentPage.begin(page, request);
  await agent.put('cells.ipynb', NOTEBOOK);
  await agent.show('cells.ipynb');
  await agent.cell(1).locator('.jp-InputPrompt').hover();
  await page.mouse.down();
  const box = (await agent.input.boundingBox())!;
  await page.mouse.move(box.x + 20, box.y - 200, { steps: 5 });
  await page.mouse.move(box.x + 20, box.y + 10, { steps: 5 });
  await page.mouse.up();
  await expect(
    agent.panel.locator('li.jp-acp-Attachment', {
      hasText: 'cells.ipynb: cell 2'
    })
  ).toBeVisible();
  await expect(agent.cell(1)).toContainText('print("shown")');
});

test('what was said before comes back with the arrow keys', async ({
  page
}) => {
  const chat = await ChatPage.start(page);
  for (const text of ['/stream 1', '/stream 2']) {
    await chat.send(text);
    await chat.isIdle();
  }
  await chat.input.press('ArrowUp');
  await expect(chat.input).toHaveValue('/stream 2');
  await chat.input.press('ArrowUp');
  await expect(chat.input).toHaveValue('/stream 1');
  await chat.input.press('ArrowDown');
  await chat.input.press('ArrowDown');
  await expect(chat.input).toHaveValue('');
  // Never in the place of something that was written.
  await chat.input.fill('half a thought');
  await chat.input.press('Home');
  await chat.input.press('ArrowUp');
  await expect(chat.input).toHaveValue('half a thought');
});

test('a message that is sent during a turn waits for its end', async ({
  page
}) => {
  const chat = await ChatPage.start(page);
  await chat.send('/slow 2');
  await chat.isRunning();
  await chat.send('/stream 3');
  await expect(chat.prompts).toHaveText(['/slow 2', '/stream 3']);
  await expect(chat.answers.last()).toHaveText('1 2 3');
  await chat.isIdle();
});

test('what waits is still there after a reload, and comes back if the turn is stopped', async ({
  page
}) => {
  const chat = await ChatPage.start(page);
  await chat.send('/slow 60');
  await chat.isRunning();
  await chat.send('/stream 3');
  await chat.send('/stream 4');
  await expect(chat.prompts).toHaveCount(3);
  await chat.reload();
  await expect(chat.prompts).toHaveText(['/slow 60', '/stream 3', '/stream 4']);
  await chat.input.fill('half a thought');
  await chat.input.press('Escape');
  await chat.isIdle();
  await expect(chat.prompts).toHaveText(['/slow 60']);
  await expect(chat.input).toHaveValue('/stream 3\n/stream 4\nhalf a thought');
});

test('where the user is stays untold in a session that was left and found again', async ({
  page,
  request
}) => {
  const agent = await AgentPage.begin(page, request);
  await agent.put('secret.py', 'x = 1\n');
  await agent.show('secret.py');
  const chip = agent.panel.getByRole('switch');
  await chip.click();
  await expect(chip).toHaveAttribute('aria-checked', 'false');
  await agent.newSession('builtin');
  await expect(chip).toHaveAttribute('aria-checked', 'true');
  await agent.panel.getByRole('tab').first().click();
  await expect(chip).toHaveAttribute('aria-checked', 'false');
});

test('nobody is torn from what they write when an agent has started', async ({
  page,
  request
}) => {
  const agent = await AgentPage.begin(page, request);
  await agent.put('writing.py', '');
  await agent.show('writing.py');
  await agent.execute('jupyter-acp-bridge:open');
  const creating = agent.execute('jupyter-acp-bridge:new-session', {
    agent: 'slow'
  });
  const editor = page.locator('.jp-FileEditor .cm-content');
  await editor.click();
  await page.keyboard.type('before ');
  await creating;
  await page.keyboard.type('after');
  await expect(editor).toHaveText('before after');
  await expect(agent.input).toHaveValue('');
});

test('a long message is folded, and so is what the agent was told with it', async ({
  page,
  request
}) => {
  const agent = await AgentPage.begin(page, request);
  await agent.put('told.ipynb', NOTEBOOK);
  await agent.show('told.ipynb');
  await expect(agent.panel.getByRole('switch')).toBeVisible();
  const lines = Array.from({ length: 40 }, (_, n) => ['chunk', `line ${n}`]);
  await agent.send(JSON.stringify(lines, null, 1));
  const prompt = agent.prompts.last();
  await expect(prompt.locator('details')).toHaveText('Editor context');
  await expect(prompt).not.toContainText('told.ipynb');
  await expect(prompt).not.toContainText('line 39');
  await prompt.getByRole('button', { name: 'Show all' }).click();
  await expect(prompt).toContainText('line 39');
  await agent.isIdle();
});

test.describe('the settings', () => {
  test.afterEach(async ({ page }) => {
    const chat = new ChatPage(page);
    await chat.setting('chat', 'sendWithEnter', true);
    await chat.setting('chat', 'shareContext', true);
  });

  test('say which key sends, at once', async ({ page }) => {
    const chat = await ChatPage.start(page);
    await chat.setting('chat', 'sendWithEnter', false);
    await chat.input.pressSequentially('/stream 2');
    await chat.input.press('Enter');
    await expect(chat.input).toHaveValue('/stream 2\n');
    await expect(chat.prompts).toHaveCount(0);
    await chat.input.press('Shift+Enter');
    await expect(chat.prompts).toHaveText(['/stream 2']);
    await chat.isIdle();
    await chat.setting('chat', 'sendWithEnter', true);
    await chat.input.pressSequentially('/stream 3');
    await chat.input.press('Shift+Enter');
    await expect(chat.input).toHaveValue('/stream 3\n');
    await chat.input.press('Enter');
    await expect(chat.prompts).toHaveCount(2);
    await chat.isIdle();
  });

  test('say whether messages tell where the user is', async ({
    page,
    request
  }) => {
    const agent = await AgentPage.begin(page, request);
    await agent.put('mine.py', 'a = 1\n');
    await agent.show('mine.py');
    const chip = agent.panel.getByRole('switch');
    await expect(chip).toHaveAttribute('aria-checked', 'true');
    await agent.setting('chat', 'shareContext', false);
    await expect(chip).toHaveAttribute('aria-checked', 'false');
    await agent.newSession('builtin');
    await agent.send('Hello');
    await agent.isIdle();
    const prompt = agent.prompts.last();
    await expect(prompt).toHaveText('Hello');
    // One click tells it for this session, whatever the setting.
    await chip.click();
    await agent.send('Look here');
    await agent.isIdle();
    await prompt.getByText('Editor context').click();
    await expect(prompt).toContainText('/mine.py is open.');
  });
});
