// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { gzipSync } from 'node:zlib';

import { type Response, expect, test } from './browser';

import { AgentPage } from './agent';
import { ChatPage } from './chat';

/** Sound that nobody hears, in 8 kHz and 8 bit. */
function silence(samples: number): string {
  const wave = Buffer.alloc(44 + samples, 128);
  wave.write('RIFF', 0);
  wave.writeUInt32LE(36 + samples, 4);
  wave.write('WAVEfmt ', 8);
  wave.writeUInt32LE(16, 16);
  wave.writeUInt16LE(1, 20);
  wave.writeUInt16LE(1, 22);
  wave.writeUInt32LE(8000, 24);
  wave.writeUInt32LE(8000, 28);
  wave.writeUInt16LE(1, 32);
  wave.writeUInt16LE(8, 34);
  wave.write('data', 36);
  wave.writeUInt32LE(samples, 40);
  return wave.toString('base64');
}

test('the first page offers the built-in agent and tells how to get others', async ({
  page
}) => {
  const chat = await ChatPage.open(page);
  await expect(chat.panel.getByText('Start a session')).toBeVisible();
  await chat.panel.getByText('More agents').click();
  await expect(
    chat.panel.locator('.jp-acp-Command code').first()
  ).not.toBeEmpty();
  await chat.panel.locator('.jp-acp-Row').first().click();
  await expect(chat.input).toBeVisible();
});

test('an agent that is clicked twice is started once', async ({
  page,
  request
}) => {
  const chat = await ChatPage.open(page);
  const count = async () =>
    (
      (await (await request.get('/acp/sessions')).json()) as {
        sessions: object[];
      }
    ).sessions.length;
  const before = await count();
  await chat.panel.locator('.jp-acp-Row', { hasText: 'Slow' }).dblclick();
  await expect(chat.input).toBeVisible();
  expect(await count()).toBe(before + 1);
  await expect(chat.panel.getByRole('tab')).toHaveCount(0);
});

test('the page loads little of it, and the chat when it is first shown', async ({
  page
}) => {
  const files = new Map<string, Response>();
  page.on('response', response => {
    if (response.url().includes('/extensions/jupyter-acp-bridge/')) {
      files.set(response.url(), response);
    }
  });
  await page.goto('/lab/workspaces/size');
  await new ChatPage(page).ready();
  const bodies = await Promise.all(
    [...files.values()].map(response => response.body())
  );
  const bytes = bodies.reduce((sum, body) => sum + gzipSync(body).length, 0);
  expect(bytes).toBeGreaterThan(0);
  expect(bytes).toBeLessThanOrEqual(30 * 1024);
  const before = files.size;
  await new ChatPage(page).execute('jupyter-acp-bridge:open');
  await expect.poll(() => files.size).toBeGreaterThan(before);
});

test('the first prompt gets a rendered answer', async ({ page }) => {
  const chat = await ChatPage.start(page);
  await chat.send('Hello, who are you?');
  await expect(chat.prompts).toHaveText(['Hello, who are you?']);
  await expect(chat.answers.first().locator('strong').first()).toBeVisible();
  await expect(chat.log.locator('.jp-acp-Thought')).not.toHaveAttribute('open');
  await chat.isIdle();
  await expect(chat.input).toHaveValue('');
});

test('a stream is shown whole, once and in order', async ({ page }) => {
  const chat = await ChatPage.start(page);
  await chat.send('/stream 10000');
  await expect(chat.answers).toHaveText([ChatPage.numbers(10000)], {
    timeout: 30_000
  });
  await chat.isIdle();
});

test('commands of the agent are completed', async ({ page }) => {
  const chat = await ChatPage.start(page);
  await chat.input.pressSequentially('/');
  const options = chat.panel.getByRole('listbox').getByRole('option');
  await expect(options.first()).toBeVisible();
  await chat.input.pressSequentially('strea');
  await expect(options).toHaveCount(1);
  await chat.input.press('Enter');
  await expect(chat.input).toHaveValue('/stream ');
  await chat.input.pressSequentially('3');
  await chat.input.press('Enter');
  await expect(chat.answers).toHaveText(['1 2 3']);
});

test('shift and Enter make a new line, Enter sends both', async ({ page }) => {
  const chat = await ChatPage.start(page);
  await chat.input.pressSequentially('one');
  await chat.input.press('Shift+Enter');
  await chat.input.pressSequentially('two');
  await expect(chat.prompts).toHaveCount(0);
  await chat.input.press('Enter');
  await expect(chat.prompts).toHaveText(['one\ntwo']);
  await chat.isIdle();
});

test('a plan and an image are shown', async ({ page }) => {
  const chat = await ChatPage.start(page);
  await chat.send('/plan');
  await chat.isIdle();
  const plan = chat.log.getByRole('region', { name: 'Plan' });
  await expect(plan.getByRole('listitem')).toHaveCount(3);
  await expect(plan).toContainText('3/3');
  await chat.send('/image');
  await chat.isIdle();
  const image = chat.log.getByRole('img', { name: 'Image from the agent' });
  await expect
    .poll(() => image.evaluate((node: HTMLImageElement) => node.naturalWidth))
    .toBeGreaterThan(0);
});

test('what is folded in an answer may have blank lines', async ({
  page,
  request
}) => {
  const agent = await AgentPage.begin(page, request);
  const text =
    'Before.\n\n<details>\n<summary>More</summary>\n\n**one**\n\ntwo\n\n</details>\n\nAfter.\n';
  await agent.play(...[...text].map(chunk => ['chunk', chunk]));
  await expect(agent.log.getByText('After.')).toBeVisible();
  const inner = agent.log.locator('details', { hasText: 'More' });
  await expect(inner.locator('strong')).toHaveText('one');
  await expect(inner.getByText('two')).toBeHidden();
  await agent.log.getByText('More').click();
  await expect(inner.getByText('two')).toBeVisible();
  await expect(inner).not.toContainText('After.');
});

test('what an agent says aloud can be played', async ({ page, request }) => {
  const agent = await AgentPage.begin(page, request);
  await agent.play([
    'update',
    {
      sessionUpdate: 'agent_message_chunk',
      content: { type: 'audio', mimeType: 'audio/wav', data: silence(800) }
    }
  ]);
  const audio = agent.log.locator('audio');
  await expect(audio).toHaveAccessibleName('Audio from the agent');
  await expect
    .poll(() => audio.evaluate((node: HTMLAudioElement) => node.duration))
    .toBeCloseTo(0.1);
});

test.describe('permission', () => {
  test('allowed: the command runs and what it prints is shown', async ({
    page
  }) => {
    const chat = await ChatPage.start(page);
    await chat.send('/run echo allo""wed');
    await expect(chat.cards).toContainText('echo allo""wed');
    await expect(chat.log.locator('.jp-acp-Terminal')).toHaveCount(0);
    await chat.cards.getByRole('button', { name: 'Allow once' }).press('Enter');
    await expect(chat.cards).toHaveCount(0);
    await expect(chat.log.locator('.jp-acp-Tool')).toContainText('allowed');
    await chat.isIdle();
    await expect(chat.log.locator('.jp-acp-Tool')).toHaveAttribute(
      'data-status',
      'completed'
    );
  });

  test('rejected: nothing happens', async ({ page, request }) => {
    const chat = await ChatPage.start(page);
    await chat.send('/run touch rejected.txt');
    await chat.cards
      .getByRole('button', { name: /reject/i })
      .first()
      .click();
    await chat.isIdle();
    await expect(chat.cards).toHaveCount(0);
    await expect(chat.answers.last()).toContainText('Rejected');
    const file = await request.get('/api/contents/rejected.txt');
    expect(file.status()).toBe(404);
  });

  test('an edit is shown as a diff before it is asked for', async ({
    page,
    request
  }) => {
    const untidy = '# Notes\n\nBuy milk.   \n';
    await request.put('/api/contents/notes.md', {
      data: { type: 'file', format: 'text', content: untidy }
    });
    const chat = await ChatPage.start(page);
    await chat.send('/edit notes.md');
    const diff = chat.cards.locator('.jp-acp-Diff');
    await expect(diff.locator('.cm-deletedChunk')).toContainText('Buy milk.');
    await expect(diff.locator('.cm-changedLine')).toContainText('Buy milk.');
    await chat.cards.getByRole('button', { name: 'Allow once' }).click();
    await chat.isIdle();
    const file = await request.get('/api/contents/notes.md');
    expect(((await file.json()) as { content: string }).content).not.toBe(
      untidy
    );
  });

  test('waits over a reload of the page', async ({ page }) => {
    const chat = await ChatPage.start(page);
    await chat.send('/run echo later');
    await expect(chat.cards).toHaveCount(1);
    await chat.reload();
    await expect(chat.cards).toHaveCount(1);
    await chat.cards.getByRole('button', { name: 'Allow once' }).click();
    await chat.isIdle();
    await expect(chat.answers.last()).toContainText('exit status 0');
  });
});

test('a form is filled in and its answer arrives', async ({ page }) => {
  const chat = await ChatPage.start(page);
  await chat.send('/ask');
  const submit = chat.cards.getByRole('button', { name: 'Submit' });
  await submit.click();
  await expect(chat.cards).toHaveCount(1);
  await chat.cards.getByRole('textbox').first().fill('Ada');
  for (const select of await chat.cards.locator('select[required]').all()) {
    await select.selectOption({ index: 1 });
  }
  await submit.click();
  await chat.isIdle();
  await expect(chat.cards).toHaveCount(0);
  await expect(chat.answers.last()).toContainText('Ada');
});

test.describe('reload', () => {
  test('leaves the focus where the user put it', async ({ page }) => {
    const chat = await ChatPage.start(page);
    await chat.send('/stream 3');
    await chat.isIdle();
    await chat.reloadAs(saved => /"current":\s*"jp-acp-panel"/.test(saved));
    // The panel comes back by itself, with its session, and asks for nothing.
    await expect(chat.answers.last()).toContainText('1 2 3');
    expect(
      await chat.panel.evaluate(node => node.contains(document.activeElement))
    ).toBe(false);
  });

  test('in the middle of a turn loses and doubles nothing', async ({
    page,
    request
  }) => {
    const agent = await AgentPage.begin(page, request);
    const said = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, n) => `This is ${from + n}.`);
    const slowly = (texts: string[]) =>
      texts.flatMap(text => [
        ['chunk', `${text}\n\n`],
        ['sleep', 0.5]
      ]);
    const file = `go-on-${Date.now()}.txt`;
    const steps = JSON.stringify([
      ...slowly(said(0, 12)),
      // However long a busy machine takes to load the page again.
      await agent.until(file),
      ...slowly(said(12, 16))
    ]);
    await agent.send(steps);
    await expect(agent.answers).toContainText('This is 1.');
    await agent.reload();
    await agent.isRunning();
    await agent.put(file, '');
    await agent.isIdle();
    await expect(agent.prompts).toHaveText([steps]);
    await expect(agent.answers.locator('p')).toHaveText(said(0, 16));
  });

  test('keeps the draft', async ({ page }) => {
    const chat = await ChatPage.start(page);
    await chat.input.fill('half a thought');
    await chat.reload();
    await expect(chat.input).toHaveValue('half a thought');
  });
});

test('two windows share a session; answering in one closes the card in the other', async ({
  page,
  context
}) => {
  const first = await ChatPage.start(page);
  await first.send('/run echo shared');
  await expect(first.cards).toHaveCount(1);
  const second = await ChatPage.open(await context.newPage());
  await second.panel.getByText('/run echo shared').first().click();
  await expect(second.cards).toHaveCount(1);
  await second.cards.getByRole('button', { name: 'Allow once' }).click();
  for (const chat of [first, second]) {
    await expect(chat.cards).toHaveCount(0);
    await chat.isIdle();
    await expect(chat.answers.last()).toContainText('exit status 0');
  }
  await second.send('/stream 500');
  for (const chat of [first, second]) {
    await expect(chat.prompts).toHaveText(['/run echo shared', '/stream 500']);
    await expect(chat.answers.last()).toHaveText(ChatPage.numbers(500));
  }
});

test('a crash tells what was printed, and a restart goes on', async ({
  page
}) => {
  const chat = await ChatPage.start(page);
  await chat.send('/crash');
  const error = chat.log.getByRole('alert');
  await expect(error).toContainText('status 3');
  await expect(error).toContainText('the crash that /crash asked for');
  await error.getByRole('button', { name: 'Restart the agent' }).click();
  await expect(error.getByRole('button')).toHaveCount(0);
  await chat.send('/stream 10');
  await expect(chat.answers.last()).toHaveText(ChatPage.numbers(10));
  await chat.isIdle();
});

test.describe('cancel', () => {
  test('with the button', async ({ page }) => {
    const chat = await ChatPage.start(page);
    await chat.send('/slow 60');
    await expect(chat.answers).toContainText('0.5 of 60 s');
    await chat.button('Stop').click();
    await chat.isIdle(5000);
    await expect(chat.log).toContainText('Stopped by you.');
  });

  test('with Escape, also while a question is open', async ({ page }) => {
    const chat = await ChatPage.start(page);
    await chat.send('/run echo never');
    await expect(chat.cards).toHaveCount(1);
    await chat.input.press('Escape');
    await chat.isIdle(5000);
    await expect(chat.cards).toHaveCount(0);
  });
});

test('a lost socket comes back, and nothing is missing', async ({ page }) => {
  const sockets: { close(): Promise<void> }[] = [];
  let isDown = false;
  await page.routeWebSocket(/\/acp\/ws/, socket => {
    if (isDown) {
      void socket.close();
      return;
    }
    socket.connectToServer();
    sockets.push(socket);
  });
  const chat = await ChatPage.start(page);
  await chat.send('/slow 4');
  await expect(chat.answers).toContainText('0.5 of 4 s');
  isDown = true;
  await sockets.at(-1)!.close();
  await expect(chat.panel).toContainText('The connection');
  await chat.input.fill('not lost');
  await chat.input.press('Enter');
  await expect(chat.input).toHaveValue('not lost');
  isDown = false;
  await chat.isIdle();
  const steps = Array.from({ length: 8 }, (_, i) => `${(i + 1) / 2} of 4 s`);
  await expect(chat.answers.locator('p')).toHaveText([...steps, 'Done.']);
  await expect(chat.input).toHaveValue('not lost');
});

test('what is read stays in its place while the panel is hidden', async ({
  page,
  request
}) => {
  const agent = await AgentPage.begin(page, request);
  await agent.play(
    ...Array.from({ length: 300 }, (_, index) => [
      'update',
      {
        sessionUpdate:
          index % 2 ? 'agent_thought_chunk' : 'agent_message_chunk',
        content: {
          type: 'text',
          text: Array.from({ length: 1 + (index % 7) }, () => index).join(
            '\n\n'
          )
        }
      }
    ])
  );
  await expect(agent.log.locator('.jp-acp-Thought').last()).toContainText(
    '299'
  );
  await agent.log.evaluate(node => (node.scrollTop = node.scrollHeight / 2));
  await expect(agent.button('Scroll to the end')).toBeVisible();
  const place = () => agent.log.evaluate(node => node.scrollTop);
  /** What comes into the page takes a while to have its height. */
  const settled = async () => {
    let now = await place();
    await expect(async () => {
      const before = now;
      await page.waitForTimeout(500);
      now = await place();
      expect(now).toBe(before);
    }).toPass();
    return now;
  };
  const before = await settled();
  expect(before).toBeGreaterThan(100);
  await agent.execute('application:toggle-right-area');
  await expect(agent.panel).toBeHidden();
  await page.waitForTimeout(500);
  await agent.execute('application:toggle-right-area');
  await expect(agent.panel).toBeVisible();
  expect(Math.abs((await settled()) - before)).toBeLessThan(2);
});
