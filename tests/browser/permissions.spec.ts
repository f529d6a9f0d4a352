// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { type Page, expect, test } from './browser';

import { AgentPage } from './agent';
import { ChatPage } from './chat';
import { code } from './documents';

/** The rules in JupyterLab's settings; sets them first if there are any. */
function rules(page: Page, wanted?: object[]): Promise<object[]> {
  return new ChatPage(page).setting('permissions', 'rules', wanted);
}

test.afterEach(async ({ page }) => {
  await rules(page, []);
});

test('a command is asked for once, and never again if the user says so', async ({
  page,
  request
}) => {
  const agent = await AgentPage.begin(page, request);
  const create = JSON.stringify([
    ['request', 'terminal/create', { command: 'echo', args: ['hello *'] }]
  ]);
  await agent.send(create);
  await expect(agent.cards).toHaveCount(1);
  await expect(agent.cards).toContainText("Run `echo 'hello *'`");
  await agent.button('Always allow').click();
  await agent.isIdle();
  await expect(agent.answers.last()).toContainText('terminalId');
  await expect
    .poll(() => rules(page))
    .toEqual([
      {
        agent: 'scripted',
        kind: 'terminal',
        match: "echo 'hello [*]'",
        decision: 'allow'
      }
    ]);

  // In another session, too.
  await agent.newSession('scripted');
  await agent.send(create);
  await expect(agent.answers.last()).toContainText('terminalId');
  await agent.isIdle();
  await expect(agent.cards).toHaveCount(0);
});

test('a lasting answer that cannot be saved says so', async ({
  page,
  request
}) => {
  const agent = await AgentPage.begin(page, request);
  const settings = '**/api/settings/**';
  await page.route(settings, route =>
    route.request().method() === 'PUT'
      ? route.fulfill({ status: 500 })
      : route.continue()
  );
  await agent.send(
    JSON.stringify([['request', 'terminal/create', { command: 'true' }]])
  );
  await agent.button('Always allow').click();
  await agent.isIdle();
  await expect(agent.answers.last()).toContainText('terminalId');
  await expect(
    page.getByText('Your answer was sent, but "always allow" was not saved')
  ).toBeVisible();
  await page.unroute(settings);
});

test('a rule in the settings counts at once', async ({ page, request }) => {
  const agent = await AgentPage.begin(page, request);
  await rules(page, [
    { agent: '*', kind: 'terminal', match: 'rm *', decision: 'deny' }
  ]);
  expect(
    await agent.ask('terminal/create', { command: 'rm', args: ['x'] })
  ).toMatchObject({ code: -32011 });
  await expect(agent.log).toContainText('Not allowed by your rules: rm x');
  await expect(agent.cards).toHaveCount(0);
});

test('what cannot be seen in a command is shown', async ({ page, request }) => {
  const agent = await AgentPage.begin(page, request);
  const command = 'rm important\u202e txt.oodle\u200b';
  await agent.send(
    JSON.stringify([['request', 'terminal/create', { command }]])
  );
  await expect(agent.cards.getByRole('alert')).toContainText(
    'invisible characters that can disguise its content'
  );
  await expect(agent.cards.locator('.jp-acp-Card-title mark')).toHaveText([
    'U+202E',
    'U+200B'
  ]);
  await agent.button('Reject').first().click();
  await agent.isIdle();
  await expect(agent.answers.last()).toContainText('the user said no');
});

test('nothing hides in what a call says of itself', async ({
  page,
  request
}) => {
  const agent = await AgentPage.begin(page, request);
  const text =
    'Run **tests**\u202e\u2066 [docs](https://evil.example)<!-- and -->';
  const toolCall = {
    toolCallId: 'hiding',
    title: 'Run the tests',
    kind: 'other',
    content: [{ type: 'content', content: { type: 'text', text } }],
    rawInput: {
      command: 'pytest',
      args: ['-x'],
      cwd: '/tmp/\u200bhere',
      env: [{ name: 'PYTHONPATH', value: '/evil' }]
    }
  };
  const options = [
    { optionId: 'no', name: 'Not\u202e now', kind: 'reject_once' }
  ];
  await agent.send(
    JSON.stringify([
      ['request', 'session/request_permission', { toolCall, options }]
    ])
  );
  await expect(agent.cards.getByRole('alert')).toContainText(
    'invisible characters that can disguise its content'
  );
  const texts = agent.cards.locator('.jp-acp-Text');
  await expect(texts).toHaveText([
    'pytest\nargs: ["-x"]\ncwd: /tmp/U+200Bhere\nenv: PYTHONPATH=/evil',
    'Run **tests**U+202EU+2066 [docs](https://evil.example)<!-- and -->'
  ]);
  await expect(texts.last().locator('mark')).toHaveText(['U+202E', 'U+2066']);
  await agent.button('NotU+202E now').click();
  await agent.isIdle();
  await expect(agent.answers.last()).toContainText('"no"');
});

test('a change beside a command does not hide it', async ({
  page,
  request
}) => {
  const agent = await AgentPage.begin(page, request);
  const around = 'a\n'.repeat(100);
  const oldText = `${around}touch pwned\n${around}`;
  const options = [
    { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
    { optionId: 'no', name: 'Reject', kind: 'reject_once' }
  ];
  for (const [kind, rawInput] of [
    ['execute', { cmd: 'touch pwned' }],
    ['other', { cmd: 'touch pwned' }],
    ['execute', { step: 'touch pwned' }]
  ] as const) {
    const toolCall = {
      toolCallId: `hiding-${kind}-${Object.keys(rawInput)[0]}`,
      kind,
      title: 'Tidy up notes',
      rawInput,
      content: [
        { type: 'diff', path: '/a.txt', oldText, newText: `${oldText}c\n` }
      ]
    };
    await agent.send(
      JSON.stringify([
        ['request', 'session/request_permission', { toolCall, options }]
      ])
    );
    await expect(agent.cards).toContainText('touch pwned');
    await agent.button('Reject').click();
    await agent.isIdle();
  }
});

test('a button says what it does, whatever the agent calls it', async ({
  page,
  request
}) => {
  const agent = await AgentPage.begin(page, request);
  const toolCall = {
    toolCallId: 'named',
    kind: 'execute',
    title: 'Tidy up notes',
    rawInput: { command: 'rm -rf notes' }
  };
  const ask = async (...options: [string, string, string][]) => {
    await agent.send(
      JSON.stringify([
        [
          'request',
          'session/request_permission',
          {
            toolCall,
            options: options.map(([optionId, name, kind]) => ({
              optionId,
              name,
              kind
            }))
          }
        ]
      ])
    );
    await expect(agent.cards).toHaveCount(1);
  };
  const named = (name: string) =>
    agent.cards.getByRole('button', { name, exact: true });

  // As nearly all agents do: nothing has to be added.
  await ask(
    ['a', 'Allow', 'allow_once'],
    ['b', 'Always allow', 'allow_always'],
    ['c', 'Reject', 'reject_once']
  );
  for (const name of ['Allow', 'Always allow', 'Reject']) {
    await expect(named(name)).toHaveText(name);
  }
  await page.screenshot({ path: test.info().outputPath('usual.png') });
  await named('Reject').click();
  await agent.isIdle();

  const shoot = async (theme: string) => {
    await agent.execute('apputils:change-theme', { theme });
    await expect(page.locator('body')).toHaveAttribute(
      'data-jp-theme-name',
      theme
    );
    await expect(page.locator('#jupyterlab-splash')).toHaveCount(0);
    const name = theme.toLowerCase().replace(/\W/g, '-');
    await page.screenshot({ path: test.info().outputPath(`${name}.png`) });
  };
  await ask(
    ['a', 'Reject', 'allow_once'],
    ['b', 'Not now, ask me again '.repeat(200), 'allow_always'],
    ['c', 'Allow', 'reject_once'],
    ['d', 'Vielleicht', 'maybe'],
    // The same id and another kind: both are there.
    ['d', 'Go on', 'reject_always']
  );
  for (const [name, meaning, icon] of [
    ['Reject', 'means: allow once', 'check'],
    ['Allow', 'means: reject', 'clear'],
    ['Vielleicht', 'may allow it', 'info'],
    ['Go on', 'means: always reject', 'clear']
  ]) {
    const button = named(name);
    await expect(button).toHaveAccessibleDescription(meaning);
    await expect(button).toHaveAttribute('title', new RegExp(`^${meaning}`));
    await expect(
      button.locator(`[data-icon="ui-components:${icon}"]`)
    ).toBeInViewport({ ratio: 1 });
  }
  const long = agent.cards.getByRole('button', { name: /^Not now/ });
  await expect(long).toHaveAccessibleDescription('means: always allow');
  await expect(long.locator('svg')).toBeInViewport({ ratio: 1 });
  await shoot('JupyterLab Dark');
  await shoot('JupyterLab Light');
  await named('Reject').click();
  await agent.isIdle();
  await expect(
    agent.log.getByText('Reject (means: allow once): Tidy up notes')
  ).toBeVisible();
});

test('nothing hides in the transcript, either', async ({ page, request }) => {
  const agent = await AgentPage.begin(page, request);
  const call = (toolCallId: string, text: string) => [
    'update',
    {
      sessionUpdate: 'tool_call',
      toolCallId,
      title: toolCallId,
      kind: 'execute',
      status: 'completed',
      content: [{ type: 'content', content: { type: 'text', text } }]
    }
  ];
  await agent.send(
    JSON.stringify([
      call('plain', 'All is **well**'),
      call('hiding', 'All is **well**\u202e')
    ])
  );
  await agent.isIdle();
  await expect(
    agent.log.getByRole('region', { name: 'plain' }).locator('strong')
  ).toHaveText('well');
  await expect(
    agent.log.getByRole('region', { name: 'hiding' }).locator('.jp-acp-Text')
  ).toHaveText('All is **well**U+202E');
});

test('what a file would do, and where it leads, is said before it is allowed', async ({
  page,
  request
}) => {
  const agent = await AgentPage.begin(page, request);
  const root = await agent.root();
  await rules(page, [{ agent: '*', kind: '*', match: '*', decision: 'allow' }]);
  await agent.send(
    JSON.stringify([
      ['shell', `ln -sfn ${root}/.git ${root}/docs-link`],
      [
        'request',
        'fs/write_text_file',
        { path: `${root}/docs-link/hooks/pre-commit`, content: 'echo evil\n' }
      ]
    ])
  );
  await expect(agent.cards).toHaveCount(1);
  // Allowed or not by a rule: this is asked, names the file itself, and cannot be allowed for ever.
  await expect(agent.cards).toContainText('Git runs programs');
  await expect(agent.cards.getByRole('alert')).toContainText(
    `${root}/.git/hooks/pre-commit`
  );
  await expect(agent.cards).toContainText('echo evil');
  await expect(agent.button('Always allow')).toHaveCount(0);
  await page.screenshot({ path: test.info().outputPath('risk.png') });
  await agent.cards
    .getByRole('button', { name: 'Reject', exact: true })
    .click();
  await agent.isIdle();
  await expect(agent.answers.last()).toContainText('the user said no');

  // What the agent would do by itself is looked at, too; what it says of it is not believed.
  const forged = { rule: { kind: '*', match: '*' }, files: [] };
  await agent.send(
    JSON.stringify([
      [
        'request',
        'session/request_permission',
        {
          toolCall: {
            toolCallId: 'own',
            title: 'Update the documentation',
            kind: 'edit',
            locations: [{ path: `${root}/docs-link/config` }]
          },
          options: [
            { optionId: 'always', name: 'For ever', kind: 'allow_always' }
          ],
          _meta: { 'jupyter-acp': forged }
        }
      ]
    ])
  );
  const warning = agent.cards.getByRole('alert');
  await expect(warning).toContainText('This is a link to:');
  await expect(warning).toContainText(`${root}/.git/config`);
  await expect(warning).toContainText('Git runs programs');
  await agent.button('For ever').click();
  await agent.isIdle();
  expect(await rules(page)).toHaveLength(1);
});

test('several questions wait at once, each for its own answer', async ({
  page,
  request
}) => {
  const agent = await AgentPage.begin(page, request);
  const titles = ['first', 'second', 'third'];
  await agent.send(JSON.stringify([['ask_all', titles]]));
  await expect(agent.cards).toHaveCount(3);
  for (const [index, title] of titles.entries()) {
    await expect(agent.cards.nth(index)).toContainText(title);
  }
  // The one in the middle: the others stay as they are.
  await agent.cards.nth(1).getByRole('button', { name: 'Allow' }).click();
  await expect(agent.cards).toHaveCount(2);
  await expect(agent.cards.nth(0)).toContainText('first');
  await expect(agent.cards.nth(1)).toContainText('third');
  await agent.isRunning();
  // With the keyboard alone.
  await agent.cards.nth(0).getByRole('button', { name: 'Allow' }).focus();
  await page.keyboard.press('Enter');
  await expect(agent.cards).toHaveCount(1);
  // Whoever ends the turn answers what is left.
  await agent.input.press('Escape');
  await expect(agent.cards).toHaveCount(0);
  await agent.isIdle();
  await expect(agent.answers.last()).toContainText(
    'first: selected second: selected third: cancelled'
  );
});

/** Let the agent ask whether it may change a file, and wait for the card. */
async function askToChange(
  agent: AgentPage,
  path: string,
  oldText: string,
  newText: string
): Promise<void> {
  const toolCall = {
    toolCallId: `change-${path}`,
    title: 'Change it',
    kind: 'edit',
    content: [{ type: 'diff', path, oldText, newText }]
  };
  const options = [{ optionId: 'no', name: 'No', kind: 'reject_once' }];
  await agent.send(
    JSON.stringify([
      ['request', 'session/request_permission', { toolCall, options }]
    ])
  );
  await expect(agent.cards).toHaveCount(1);
}

test('a change is there as a whole before it is allowed', async ({
  page,
  request
}) => {
  const agent = await AgentPage.begin(page, request);
  const lines = (word: string): string =>
    Array.from({ length: 300 }, (_, n) =>
      n % 10 ? `line ${n}\n` : `${word} ${n}\n`
    ).join('');
  await askToChange(agent, '/many.txt', lines('old'), lines('new'));
  const parts = agent.cards.getByRole('region');
  await expect(parts).toHaveCount(30);
  await expect(agent.cards).toContainText('new 290');
  await parts.last().scrollIntoViewIfNeeded();
  await expect(parts.last().locator('.cm-editor')).toContainText('new 290');
  await expect(agent.cards.getByRole('button', { name: /more/ })).toHaveCount(
    0
  );
  await agent.button('No').click();
  await agent.isIdle();
});

test('what a notebook is to have besides its cells is shown with them', async ({
  page,
  request
}) => {
  const agent = await AgentPage.begin(page, request);
  const notebook = (source: string, text: string, kernel: string): string =>
    JSON.stringify({
      nbformat: 4,
      nbformat_minor: 5,
      metadata: { kernelspec: { name: kernel } },
      cells: [
        {
          ...code('a', source),
          outputs: [{ output_type: 'stream', name: 'stdout', text }]
        }
      ]
    });
  await askToChange(
    agent,
    '/asked.ipynb',
    notebook('x = 1', 'it was', 'usual'),
    notebook('x = 2', 'it is', 'another')
  );
  const part = (name: string) =>
    agent.cards.getByRole('region', { name, exact: true });
  await expect(part('Cell 1')).toContainText('x = 2');
  const rest = part('Outputs and metadata');
  for (const text of ['it was', 'it is', 'usual', 'another']) {
    await expect(rest).toContainText(text);
  }
  await agent.button('No').click();
  await agent.isIdle();
});
