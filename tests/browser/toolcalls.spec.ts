// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { type Locator, type Page, expect, test } from './browser';

import { ChatPage } from './chat';

const ATTACK = '<img src=x onerror="window.attacked = true"><b>bold</b>';

/** The chat with an agent that sends what it is told to. */
class ToolPage extends ChatPage {
  static async begin(page: Page, agent = 'scripted'): Promise<ToolPage> {
    const { page: opened } = await ChatPage.open(page);
    const chat = new ToolPage(opened);
    await chat.newSession(agent);
    return chat;
  }

  async play(...steps: unknown[]): Promise<void> {
    await this.send(JSON.stringify(steps));
    await this.isRunningOrDone();
  }

  /** Let the agent send updates, and end its turn. */
  async updates(...updates: object[]): Promise<void> {
    await this.play(...updates.map(update => ['update', update]));
    await this.isIdle();
  }

  async isRunningOrDone(): Promise<void> {
    await expect(this.input).toHaveValue('');
  }

  get calls(): Locator {
    return this.log.locator('.jp-acp-Tool');
  }

  get terminal(): Locator {
    return this.log.locator('.jp-acp-Terminal');
  }
}

function call(id: string, extra: object = {}): object {
  return {
    sessionUpdate: 'tool_call',
    toolCallId: id,
    title: `Call ${id}`,
    kind: 'read',
    status: 'completed',
    ...extra
  };
}

function output(id: string, data: string, extra: object = {}): object {
  return call(id, {
    kind: 'execute',
    _meta: { terminal_output: { terminal_id: 'x', data } },
    ...extra
  });
}

test.describe('terminal output', () => {
  test('has its colours, redraws lines and never is a page', async ({
    page
  }) => {
    const chat = await ToolPage.begin(page);
    await chat.updates(
      output('t', '10 %\r\u001b[K\u001b[1;31mred\u001b[0m plain '),
      output(
        't',
        '\u001b[38;2;1;2;3mdeep\u001b[0m \u001b[7mswapped\u001b[0m\n'
      ),
      output('t', `\u001b]0;title\u0007${ATTACK}\n`)
    );
    await expect(chat.terminal.locator('pre')).toHaveText(
      `red plain deep swapped\n${ATTACK}\n`,
      { useInnerText: true }
    );
    const red = chat.terminal.locator('.ansi-red-fg.ansi-bold');
    await expect(red).toHaveText('red');
    await expect(red).toHaveCSS('font-weight', '700');
    await expect(red).not.toHaveCSS(
      'color',
      await chat.terminal
        .locator('pre')
        .evaluate(node => getComputedStyle(node).color)
    );
    await expect(chat.terminal.getByText('deep')).toHaveCSS(
      'color',
      'rgb(1, 2, 3)'
    );
    await expect(chat.terminal.locator('.ansi-default-inverse-bg')).toHaveText(
      'swapped'
    );
    await expect(chat.terminal.locator('img, b')).toHaveCount(0);
    expect(await page.evaluate('window.attacked')).toBeUndefined();
  });

  test('follows its end, unless the person has scrolled up', async ({
    page
  }) => {
    const chat = await ToolPage.begin(page);
    const lines = (from: number) =>
      Array.from({ length: 100 }, (_, index) => `line ${from + index}\n`).join(
        ''
      );
    await chat.updates(output('t', lines(0)));
    const distance = () =>
      chat.terminal.evaluate(
        node => node.scrollHeight - node.scrollTop - node.clientHeight
      );
    expect(await distance()).toBeLessThan(2);
    await chat.terminal.hover();
    await page.mouse.wheel(0, -400);
    await expect.poll(distance).toBeGreaterThan(100);
    const top = () => chat.terminal.evaluate(node => node.scrollTop);
    await expect(async () => {
      const before = await top();
      await page.waitForTimeout(100);
      expect(await top()).toBe(before);
    }).toPass();
    const before = await top();
    await chat.updates(output('t', lines(100)));
    await expect(chat.terminal).toContainText('line 199');
    expect(await top()).toBe(before);
  });
});

test('what went in and came out is shown when it is asked for', async ({
  page,
  context
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const chat = await ToolPage.begin(page);
  await chat.updates(
    call('t', {
      title: ATTACK,
      content: [{ type: 'content', content: { type: 'text', text: 'short' } }],
      rawInput: { path: '/a', note: ATTACK },
      rawOutput: 'y'.repeat(9000)
    })
  );
  await expect(chat.calls).not.toContainText('"path"');
  await chat.calls.getByRole('button', { expanded: false }).press('Enter');
  await expect(chat.calls).toContainText('short');
  await expect(chat.calls).not.toContainText('"path"');
  await chat.calls.getByText('Details').click();
  const input = chat.calls.getByRole('region', { name: 'Input' });
  await expect(input).toContainText('"path": "/a"');
  await expect(chat.calls.locator('img, b')).toHaveCount(0);
  const out = chat.calls.getByRole('region', { name: 'Output' });
  await expect(out.locator('pre')).toHaveText(/^y{4000}…$/);
  await out.getByRole('button', { name: 'Show all' }).click();
  await expect(out.locator('pre')).toHaveText(/^y{9000}$/);
  await input.getByRole('button', { name: 'Copy Input' }).click();
  expect(
    JSON.parse(await page.evaluate(() => navigator.clipboard.readText()))
  ).toEqual({ path: '/a', note: ATTACK });
  expect(await page.evaluate('window.attacked')).toBeUndefined();
});

test('a call of an odd kind, with a name that objects know, is shown', async ({
  page
}) => {
  const chat = await ToolPage.begin(page);
  await chat.updates(
    call('t', { kind: 'constructor' }),
    call('u', { kind: '__proto__' })
  );
  await expect(chat.calls).toHaveCount(2);
});

test('many calls fold into a line, but for those that matter', async ({
  page
}) => {
  const chat = await ToolPage.begin(page);
  await chat.updates(
    call('1'),
    call('2'),
    call('3', { kind: 'search' }),
    call('4'),
    call('5', { kind: 'fetch' }),
    call('6', { status: 'failed' }),
    call('7', { status: 'in_progress' })
  );
  const group = chat.button('5 tool calls: 3 read, 1 search, 1 fetch');
  await expect(group).toHaveAttribute('aria-expanded', 'false');
  await expect(chat.calls).toHaveCount(2);
  await expect(chat.calls).toContainText(['Call 6', 'Call 7']);
  await group.press('Enter');
  await expect(chat.calls).toHaveCount(7);
  await expect(chat.calls.first()).toContainText('Call 1');
  await group.press('Enter');
  await expect(chat.calls).toHaveCount(2);
});

test('a call that waits for permission does not fold', async ({ page }) => {
  const chat = await ToolPage.begin(page);
  const waiting = { title: 'do it', status: 'completed' };
  await chat.play(
    ...['1', '2', '3', '4'].map(id => ['update', call(id)]),
    ['update', call('call-1', waiting)],
    ['ask']
  );
  await expect(chat.cards).toHaveCount(1);
  await expect(chat.button(/^4 tool calls/)).toBeVisible();
  await expect(chat.calls).toHaveText(['do it']);
  await chat.cards.getByRole('button', { name: 'Allow' }).click();
  await chat.isIdle();
  await expect(chat.button(/^5 tool calls/)).toBeVisible();
});

test.describe('what an agent reports', () => {
  test('how full it is, and the costs', async ({ page }) => {
    const chat = await ToolPage.begin(page);
    const meter = chat.panel.getByRole('meter', {
      name: 'Context window used'
    });
    await expect(meter).toHaveCount(0);
    const usage = { sessionUpdate: 'usage_update', size: 200_000 };
    await chat.updates({
      ...usage,
      used: 12_345,
      cost: { amount: 0.25, currency: 'USD' }
    });
    await expect(meter).toHaveText('6 %');
    await expect(meter).toHaveAttribute(
      'aria-valuetext',
      '12,345 of 200,000 tokens (6 %)\nCost so far: $0.25'
    );
    await expect(meter).toHaveClass(/jp-acp-mod-low/);
    await chat.updates({ ...usage, used: 190_000 });
    await expect(meter).toHaveText('95 %');
    await expect(meter).toHaveClass(/jp-acp-mod-full/);
    await chat.reload();
    await expect(meter).toHaveText('95 %');
  });

  test('that it sums up, while it does and afterwards', async ({ page }) => {
    const chat = await ToolPage.begin(page);
    const compaction = {
      sessionUpdate: 'compaction_update',
      compactionId: 'c'
    };
    await chat.play(
      ['update', { ...compaction, status: 'in_progress' }],
      ['until_cancel'],
      [
        'update',
        {
          ...compaction,
          status: 'completed',
          summary: [{ type: 'text', text: `It was **tea**. ${ATTACK}` }]
        }
      ]
    );
    const shown = chat.log.locator('.jp-acp-Compaction');
    await expect(shown.getByRole('progressbar')).toBeVisible();
    await chat.button('Stop').click();
    await chat.isIdle();
    await expect(shown).toContainText('The conversation was compacted');
    await expect(shown.getByRole('progressbar')).toHaveCount(0);
    await shown.getByText('Summary').click();
    await expect(shown.locator('strong')).toHaveText('tea');
    expect(await page.evaluate('window.attacked')).toBeUndefined();
  });

  test('notices, with how grave they are', async ({ page }) => {
    const chat = await ToolPage.begin(page);
    await chat.updates(
      {
        sessionUpdate: 'notice',
        severity: 'warning',
        title: ATTACK,
        description: 'Slow down'
      },
      { sessionUpdate: 'notice', severity: 'error', title: 'Broken' }
    );
    const notices = chat.log.locator(
      ':is(.jp-acp-mod-warning, .jp-acp-mod-error).jp-acp-Notice'
    );
    await expect(notices).toHaveText([
      `Warning: ${ATTACK}Slow down`,
      'Error: Broken'
    ]);
    expect(await page.evaluate('window.attacked')).toBeUndefined();
  });
});

test('models, options and what is not understood of them', async ({
  page,
  context
}) => {
  const chat = await ToolPage.begin(page, 'choosy');
  const model = chat.panel.getByRole('combobox', { name: 'Model' });
  const pace = chat.panel.getByRole('combobox', { name: 'Pace' });
  const loud = chat.panel.getByRole('checkbox', { name: 'Loud' });
  await expect(model.locator('option:checked')).toHaveText(
    'Small <b>model</b>'
  );
  await expect(chat.panel.getByText('Mood: 7')).toBeVisible();

  await model.selectOption('large');
  await expect(model).toHaveValue('large');
  await loud.click();
  await expect(loud).toBeChecked();
  await pace.selectOption('fast');
  await expect(pace).toHaveValue('fast');

  await pace.selectOption('refused');
  await expect(chat.panel.getByRole('alert')).toContainText(
    'This choice is not for you.'
  );
  await expect(pace).toHaveValue('fast');

  await chat.play(['chunk', 'remember']);
  await chat.isIdle();
  const other = await ChatPage.open(await context.newPage());
  await other.panel
    .locator('.jp-acp-Session-row', { hasText: 'remember' })
    .click();
  await expect(
    other.panel.getByRole('combobox', { name: 'Model' })
  ).toHaveValue('large');
  await model.selectOption('small');
  await expect(
    other.panel.getByRole('combobox', { name: 'Model' })
  ).toHaveValue('small');
});

test('the log of an agent, from a crash and from the first page', async ({
  page
}) => {
  const chat = await ToolPage.begin(page);
  await chat.play(
    ['stderr', `\u001b[31mlast words\u001b[0m ${ATTACK}\n`, 1],
    ['exit', 3]
  );
  await chat.log.getByRole('button', { name: 'Show the log' }).click();
  const dialog = page.getByRole('dialog');
  const log = dialog.getByRole('group', { name: 'Agent output' });
  await expect(log).toHaveText(`last words ${ATTACK}`);
  await expect(log.locator('img, b')).toHaveCount(0);
  await dialog.getByRole('button', { name: 'Restart the agent' }).click();
  await expect(dialog).toContainText('No output since the agent was started.');
  await dialog.getByRole('button', { name: 'Close' }).click();
  await expect(
    chat.log.getByRole('button', { name: 'Show the log' })
  ).toHaveCount(0);

  await chat.play(['stderr', 'new words\n', 1]);
  await chat.isIdle();
  await chat.button('Sessions and agents').click();
  await chat.button('Log of Scripted').click();
  await expect(log).toHaveText('new words');
  await dialog.getByRole('button', { name: 'Close' }).click();
  await chat.button('Restart Scripted').click();
  await expect(page.getByText('Scripted was restarted.')).toBeVisible();
});
