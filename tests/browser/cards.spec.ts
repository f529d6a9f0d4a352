// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import {
  type APIRequestContext,
  type Locator,
  type Page,
  expect,
  test
} from './browser';

import { AgentPage } from './agent';
import { ChatPage } from './chat';

const THEMES = ['JupyterLab Light', 'JupyterLab Dark'];
const WIDTHS = [280, 420, 900];
const PATH = '/work/sales.ipynb';

type Message = [method: string, params: object];

/** A session of the past, as another server would have exported it. */
async function imported(
  page: Page,
  request: APIRequestContext,
  messages: Message[]
): Promise<ChatPage> {
  const head = {
    'jupyter-acp': { format: 1 },
    session: { id: 'x', agent: 'scripted', cwd: '/work', title: 'Sales' }
  };
  const lines = [
    head,
    ...messages.map(([method, params]) => ({ method, params }))
  ];
  const answer = await request.post('/acp/import', {
    data: lines.map(line => JSON.stringify(line)).join('\n')
  });
  expect(answer.ok(), await answer.text()).toBe(true);
  const { id } = (await answer.json()) as { id: string };
  const chat = await ChatPage.open(page);
  await chat.execute('jupyter-acp-bridge:open-session', { id });
  await expect(chat.log).toBeVisible();
  return chat;
}

const update = (fields: object): Message => [
  'session/update',
  { update: fields }
];

function record(name: string, title: string, fields: object): Message {
  return [
    '_jupyter/tool',
    {
      id: `jupyter-${name}-${title}`,
      toolCallId: null,
      name,
      title,
      arguments: {},
      status: 'completed',
      path: PATH,
      ...fields
    }
  ];
}

function notebook(source: string): string {
  return JSON.stringify({
    nbformat: 4,
    nbformat_minor: 5,
    metadata: {},
    cells: [
      { id: 'a', cell_type: 'markdown', metadata: {}, source: '# Sales' },
      { id: 'b', cell_type: 'code', metadata: {}, source, outputs: [] }
    ]
  });
}

/** What an agent is told with a message, as the server begins it. */
const TOLD = `What the user has open in JupyterLab. It is information, not a request.

The notebook ${PATH} is open.

Cell 2 has failed.`;

const TABLE =
  '<table border="1" class="dataframe"><thead><tr><th></th><th>region</th><th>total</th></tr></thead>' +
  '<tbody><tr><th>0</th><td>north</td><td>1200</td></tr><tr><th>1</th><td>south</td><td>950</td></tr></tbody></table>';

const TRACE = [
  '\u001b[31m---------------------------------------------------------------------------\u001b[39m',
  '\u001b[31mKeyError\u001b[39m                                  Traceback (most recent call last)',
  "\u001b[36mCell\u001b[39m\u001b[36m \u001b[39m\u001b[32mIn[4]\u001b[39m\u001b[32m, line 1\u001b[39m\n\u001b[32m----> \u001b[39m\u001b[32m1\u001b[39m df[\u001b[33m'totl'\u001b[39m].sum()",
  "\u001b[31mKeyError\u001b[39m: 'totl'"
];

/** A plot, as a library would have drawn it on a page that is light. */
function plot(page: Page): Promise<string> {
  return page.evaluate(() => {
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [460, 200];
    const context = canvas.getContext('2d')!;
    context.fillStyle = '#fff';
    context.fillRect(0, 0, 460, 200);
    [9, 11, 14, 13, 16, 12, 11].forEach((value, day) => {
      context.fillStyle = '#1976d2';
      context.fillRect(20 + day * 62, 190 - value * 10, 42, value * 10);
    });
    return canvas.toDataURL('image/png').split(',')[1];
  });
}

function run(source: string, outputs: object[], fields: object = {}): object {
  return {
    source,
    cell: { id: 'b', index: 1 },
    outputs,
    executionCount: 4,
    status: 'ok',
    note: '',
    ...fields
  };
}

const shown = (data: object) => ({
  output_type: 'display_data',
  data,
  metadata: {}
});

async function dress(chat: ChatPage, theme: string): Promise<void> {
  await chat.execute('apputils:change-theme', { theme });
  await expect(chat.page.locator('body')).toHaveAttribute(
    'data-jp-theme-name',
    theme
  );
  await expect(chat.page.locator('#jupyterlab-splash')).toHaveCount(0);
}

/** Make the panel as wide as that. */
async function widen(chat: ChatPage, width: number): Promise<void> {
  const box = (await chat.panel.boundingBox())!;
  await chat.page.mouse.move(box.x - 3, 500);
  await chat.page.mouse.down();
  await chat.page.mouse.move(box.x - 3 + box.width - width, 500, { steps: 5 });
  await chat.page.mouse.up();
  await expect
    .poll(async () => Math.round((await chat.panel.boundingBox())!.width))
    .toBeLessThan(width + 8);
}

/** Pictures of the panel for people, in both themes, narrow and wide. */
async function pictures(
  chat: ChatPage,
  name: string,
  what: Locator
): Promise<void> {
  for (const width of WIDTHS) {
    await widen(chat, width);
    for (const theme of THEMES) {
      await dress(chat, theme);
      await what.first().scrollIntoViewIfNeeded();
      await chat.panel.screenshot({
        path: test
          .info()
          .outputPath(`${name}-${width}-${theme.split(' ')[1]}.png`)
      });
    }
  }
  await dress(chat, 'JupyterLab Light');
}

/** Whether nothing of it is cut off at a side. */
async function fits(node: Locator): Promise<boolean> {
  return node.evaluate(
    element => element.scrollWidth <= element.clientWidth + 1
  );
}

test.beforeEach(async ({ page }) => {
  await page.setViewportSize({ width: 1600, height: 900 });
});

test('calls of our own tools are told in words, with what came of them', async ({
  page,
  request
}) => {
  test.setTimeout(240_000);
  await page.goto('/lab');
  const png = await plot(page);
  const lines = Array.from({ length: 60 }, (_, n) => `epoch ${n}`).join('\n');
  const chat = await imported(page, request, [
    [
      'session/update',
      {
        update: {
          sessionUpdate: 'user_message_chunk',
          content: { type: 'text', text: 'Why does the total fail?' }
        },
        _meta: { 'jupyter-acp': { origin: 'w1', promptId: 'p1' } }
      }
    ],
    [
      '_jupyter/prompt/context',
      {
        text: `<jupyter-context>\n${TOLD}\n</jupyter-context>`,
        images: 0
      }
    ],
    record('read_notebook', 'Read sales.ipynb', {
      result: { cells: 12, shown: 12 }
    }),
    // The agent's own row is the one that is shown.
    update({
      sessionUpdate: 'tool_call',
      toolCallId: 't',
      title: 'mcp__jupyter__edit_cell',
      status: 'in_progress',
      rawInput: { cell_id: 'b' }
    }),
    [
      '_jupyter/permission_decided',
      {
        kind: 'tool',
        subject: 'edit_cell',
        decision: 'allow',
        by: 'own tool',
        toolCallId: 't'
      }
    ],
    record('edit_cell', 'Edit cell 2 of sales.ipynb', {
      toolCallId: 't',
      status: 'in_progress'
    }),
    [
      '_jupyter/file/changed',
      {
        path: PATH,
        oldText: notebook("df['totl'].sum()"),
        newText: notebook("df['total'].sum()")
      }
    ],
    record('edit_cell', 'Edit cell 2 of sales.ipynb', {
      toolCallId: 't',
      result: {}
    }),
    update({
      sessionUpdate: 'tool_call_update',
      toolCallId: 't',
      title: '{}',
      status: 'completed'
    }),
    record('run_cell', 'Run cell 3 of sales.ipynb', {
      result: run('df.plot()\ndf', [
        { output_type: 'stream', name: 'stdout', text: lines },
        shown({ 'image/png': png, 'text/plain': '<Figure>' }),
        shown({ 'text/html': TABLE, 'text/plain': 'region total' })
      ])
    }),
    record('run_cell', 'Run cell 4 of sales.ipynb', {
      status: 'failed',
      result: run(
        "df['totl'].sum()",
        [
          {
            output_type: 'error',
            ename: 'KeyError',
            evalue: "'totl'",
            traceback: TRACE
          }
        ],
        { status: 'error' }
      )
    }),
    record('run_cells', 'Run cells 1 to 2 of sales.ipynb', {
      result: {
        cells: [
          run('import pandas as pd', [], { cell: { id: 'a', index: 0 } }),
          run('print(1)', [
            { output_type: 'stream', name: 'stdout', text: '1\n' }
          ])
        ]
      }
    }),
    record('read_variables', 'Look at the variables of sales.ipynb', {
      result: {
        variables: [
          {
            name: 'df',
            type: 'DataFrame',
            shape: '2 × 2',
            value: 'region, total'
          },
          { name: 'total', type: 'int', shape: null, value: '2150' },
          {
            name: 'a_rather_long_name',
            type: 'str',
            shape: null,
            value: 'x'.repeat(90)
          }
        ],
        more: 3,
        imports: { pd: 'pandas', os: 'os' }
      }
    }),
    record('move_cell', 'Move cell 2 of sales.ipynb', {
      status: 'failed',
      error: { message: 'There is no cell 9.' }
    })
  ]);
  const row = (name: string): Locator =>
    chat.log.getByRole('region', { name, exact: true });

  // The editor context is under what the user said, and no part of it.
  const said = chat.log.locator('.jp-acp-mod-user');
  await expect(said.locator('.jp-acp-UserText')).toHaveText(
    'Why does the total fail?'
  );
  await expect(said).not.toContainText('Cell 2 has failed');
  await said.getByText('Editor context').click();
  await expect(said.locator('.jp-acp-Text')).toHaveText(TOLD);
  await pictures(chat, 'context', said);

  await expect(row('Read 12 cells of sales.ipynb')).toBeVisible();
  await expect(chat.log).not.toContainText('mcp__');
  await expect(chat.log).not.toContainText('{}');

  // An edit is one row, with what it changed.
  const edit = row('Edit cell 2 of sales.ipynb');
  await expect(edit).toHaveCount(1);
  await expect(edit.locator('.jp-acp-Change')).toHaveCount(1);
  await expect(chat.log.locator('.jp-acp-Change')).toHaveCount(1);
  await expect(edit.locator('.cm-changedLine')).toContainText("df['total']");
  await edit.getByText('Details').click();
  await expect(edit).toContainText('its own rules apply to this tool');
  await expect(edit).toContainText('"cell_id": "b"');
  await pictures(chat, 'edit', edit);

  // Outputs are as the notebook shows them.
  const ran = row('Run cell 3 of sales.ipynb');
  await expect(ran.locator('.jp-acp-CodeText')).toHaveText('df.plot()\ndf');
  await expect(ran.locator('.jp-acp-CodeText span').first()).toBeVisible();
  await expect(ran.locator('img')).toHaveAttribute(
    'src',
    /^data:image\/png;base64,/
  );
  await expect(ran.getByRole('cell', { name: 'south' })).toBeVisible();
  await expect(ran).not.toContainText('epoch 59');
  await ran.getByRole('button', { name: 'Show all 60 lines' }).click();
  await expect(ran).toContainText('epoch 59');
  await ran.getByRole('button', { name: 'Show less' }).click();
  await pictures(chat, 'run', ran);
  const failed = row('Run cell 4 of sales.ipynb');
  await expect(failed.locator('.ansi-red-fg').last()).toContainText('KeyError');
  await expect(failed.getByTitle('Failed')).toBeVisible();
  await pictures(chat, 'error', failed);

  const several = row('Run cells 1 to 2 of sales.ipynb');
  await expect(several.locator('details.jp-acp-Fold')).toHaveCount(2);
  await several.getByText('Cell 1', { exact: true }).click();
  await expect(several).toContainText('No output');

  const variables = row('Look at the variables of sales.ipynb');
  await variables.getByRole('button').first().click();
  await expect(variables.getByRole('columnheader')).toHaveText([
    'Name',
    'Type',
    'Shape',
    'Value'
  ]);
  await expect(variables.getByRole('row').nth(1)).toContainText(
    'dfDataFrame2 × 2region, total'
  );
  await expect(variables).toContainText('… and 3 more');
  await expect(variables).toContainText('Imported: pandas as pd, os');
  await pictures(chat, 'variables', variables);
  await expect(row('Move cell 2 of sales.ipynb')).toContainText(
    'There is no cell 9.'
  );
});

test('outputs of our tools fetch nothing, and run nothing', async ({
  page,
  request
}) => {
  const fetched: string[] = [];
  page.on('request', each => {
    if (each.url().includes('evil.invalid')) {
      fetched.push(each.url());
    }
  });
  const html =
    '<b>an output</b><img src="https://evil.invalid/a" onerror="window.attacked=1">' +
    '<script>window.attacked=2</script><iframe src="https://evil.invalid/b"></iframe>' +
    '<a href="javascript:window.attacked=3">link</a>' +
    '<div style="position:fixed;inset:0" data-commandlinker-command="terminal:create-new">cover</div>';
  const others = {
    'application/javascript': 'window.attacked=4',
    'image/svg+xml': '<svg onload="window.attacked=5"></svg>',
    'application/vnd.vegalite.v5+json': {
      data: { url: 'https://evil.invalid/c' },
      mark: 'bar'
    }
  };
  const chat = await imported(page, request, [
    record('run_code', 'Run code in the kernel of sales.ipynb', {
      result: run('x\u202e = 1', [
        shown({ 'text/html': html }),
        shown({ 'text/markdown': `${html}\n\n![p](https://evil.invalid/d)` }),
        ...Object.entries(others).map(([type, data]) =>
          shown({ [type]: data })
        ),
        { output_type: 'stream', name: 'stdout', text: html }
      ])
    })
  ]);
  const row = chat.log.locator('.jp-acp-Tool');
  await expect(row.locator('b', { hasText: 'an output' })).toHaveCount(2);
  for (const type of Object.keys(others)) {
    await expect(
      row.getByText(`An output of type ${type} is not shown.`)
    ).toBeVisible();
  }
  await expect(row.locator('.jp-acp-CodeText mark')).toHaveText('U+202E');
  for (const selector of [
    '[data-commandlinker-command]',
    '[style*="position"]',
    'iframe',
    'script',
    '[onerror]',
    '[onload]',
    '[href^="javascript" i]',
    '.jp-RenderedSVG'
  ]) {
    await expect(row.locator(selector)).toHaveCount(0);
  }
  expect(fetched).toEqual([]);
  expect(await page.evaluate('window.attacked')).toBeUndefined();
});

interface IAsked {
  toolCall?: object;
  options?: [name: string, kind: string][];
}

/** Let the agent ask whether it may, and wait for the card. */
async function ask(
  agent: AgentPage,
  { toolCall = {}, options = USUAL }: IAsked = {}
): Promise<void> {
  const params = {
    toolCall: { toolCallId: 'asked', title: 'Tidy up', ...toolCall },
    options: options.map(([name, kind]) => ({ optionId: name, name, kind }))
  };
  await agent.send(
    JSON.stringify([['request', 'session/request_permission', params]])
  );
  await expect(agent.cards).toHaveCount(1);
}

const USUAL: [string, string][] = [
  ['No, and tell it what to do', 'reject_once'],
  ["Yes, and don't ask again in this session", 'allow_always'],
  ['Yes', 'allow_once']
];

/** What the agent was answered last. */
async function chosen(agent: AgentPage, option: string): Promise<void> {
  await agent.isIdle();
  await expect(agent.answers.last()).toContainText(`"optionId": "${option}"`);
}

test('what can be answered is one row of buttons, in the words of the agent', async ({
  page,
  request
}) => {
  test.setTimeout(120_000);
  const agent = await AgentPage.begin(page, request);
  const path = `${await agent.root()}/sales.ipynb`;
  await ask(agent, {
    toolCall: {
      title: 'mcp__jupyter__run_cell',
      kind: 'execute',
      locations: [{ path }],
      rawInput: { path, code: 'total = df.sum()\nprint(total)' },
      content: [
        {
          type: 'content',
          content: {
            type: 'text',
            text: '```\ntotal = df.sum()\nprint(total)\n```'
          }
        }
      ]
    }
  });
  const buttons = agent.cards.locator('.jp-acp-Card-buttons').first();
  await expect(buttons.getByRole('button')).toHaveText([
    'Yes',
    "Yes, and don't ask again in this session",
    'No, and tell it what to do'
  ]);
  // The server is not certain that the tool is its own.
  await expect(agent.cards.locator('.jp-acp-Card-title')).toHaveText(
    'Use the tool run_cell of “jupyter”'
  );
  // The code once and in colours, the place once.
  await expect(agent.cards.locator('.jp-acp-Text')).toHaveText([
    'total = df.sum()\nprint(total)'
  ]);
  await expect(agent.cards.locator('.jp-acp-Text span').first()).toBeVisible();
  await expect(agent.cards.getByText(path)).toHaveCount(1);
  await expect(agent.cards).not.toContainText('{');
  await pictures(agent, 'run-card', agent.cards);
  await widen(agent, 280);
  for (const button of await buttons.getByRole('button').all()) {
    expect(await fits(button)).toBe(true);
    await expect(button).toBeInViewport({ ratio: 1 });
  }
  await buttons.getByRole('button', { name: 'Yes', exact: true }).click();
  await chosen(agent, 'Yes');
});

test('an edit is asked about with what would change', async ({
  page,
  request
}) => {
  test.setTimeout(120_000);
  const agent = await AgentPage.begin(page, request);
  const path = `${await agent.root()}/sales.ipynb`;
  await ask(agent, {
    toolCall: {
      title: 'Edit cell 2 of sales.ipynb',
      kind: 'edit',
      locations: [{ path }],
      content: [
        {
          type: 'diff',
          path,
          oldText: notebook("df['totl'].sum()"),
          newText: notebook("df['total'].sum()")
        }
      ]
    },
    options: [
      ['Allow', 'allow_once'],
      ['Always allow', 'allow_always'],
      ['Reject', 'reject_once'],
      ['Always reject', 'reject_always']
    ]
  });
  await expect(agent.cards.locator('.cm-content')).toContainText("df['total']");
  await pictures(agent, 'edit-card', agent.cards);
  await agent.button('Reject').first().click();
  await chosen(agent, 'Reject');
});

test('a card takes no focus, is gone to with a command, and answered with a key', async ({
  page,
  request
}) => {
  const agent = await AgentPage.begin(page, request);
  await agent.input.focus();
  await ask(agent);
  await expect(agent.input).toBeFocused();
  // Where somebody writes, letters are letters.
  await page.keyboard.type('yan');
  await expect(agent.input).toHaveValue('yan');
  await expect(agent.cards).toHaveCount(1);
  const live = agent.panel.locator('[aria-live="polite"]');
  await expect(live).toContainText('The agent waits for you: Tidy up');

  const yes = agent.cards.getByRole('button', { name: 'Yes', exact: true });
  await expect(yes).toHaveAttribute('aria-keyshortcuts', 'y');
  await expect(yes).toHaveAttribute('title', 'Key: y');
  await page.keyboard.press('Control+Alt+.');
  await expect(agent.cards).toBeFocused();
  for (const key of ['Control+y', 'Alt+n', 'Shift+a', 'x']) {
    await page.keyboard.press(key);
  }
  await expect(agent.cards).toHaveCount(1);
  await page.keyboard.press('y');
  await expect(agent.cards).toHaveCount(0);
  await expect(agent.input).toBeFocused();
  await chosen(agent, 'Yes');

  // From elsewhere in JupyterLab, also on one of its buttons.
  for (const [key, option] of [
    ['a', "Yes, and don't ask again in this session"],
    ['n', 'No, and tell it what to do']
  ]) {
    await agent.input.fill('');
    await ask(agent);
    await agent.execute('application:toggle-right-area');
    await expect(agent.panel).toBeHidden();
    await agent.execute('jupyter-acp-bridge:focus-request');
    await expect(agent.cards).toBeFocused();
    await page.keyboard.press('Tab');
    await page.keyboard.press(key);
    await chosen(agent, option);
  }
  // The list of sessions hears of the answer a moment later than the session.
  await expect(async () => {
    await agent.execute('jupyter-acp-bridge:focus-request');
    await expect(
      page.getByText('No agent has an open question.').first()
    ).toBeVisible({ timeout: 2_000 });
  }).toPass();
});

test('the command opens the session that waits', async ({ page, request }) => {
  const agent = await AgentPage.begin(page, request);
  await ask(agent);
  await agent.newSession('builtin');
  await expect(agent.cards).toHaveCount(0);
  await expect(agent.input).toBeFocused();
  await page.keyboard.press('Control+Alt+.');
  await expect(agent.cards).toBeFocused();
  await page.keyboard.press('n');
  await chosen(agent, 'No, and tell it what to do');
});

test('with several questions, a key goes on to the next', async ({
  page,
  request
}) => {
  const agent = await AgentPage.begin(page, request);
  await agent.send(JSON.stringify([['ask_all', ['first', 'second']]]));
  await expect(agent.cards).toHaveCount(2);
  await agent.execute('jupyter-acp-bridge:focus-request');
  await expect(agent.cards.first()).toBeFocused();
  await page.keyboard.press('y');
  await expect(agent.cards).toHaveCount(1);
  await expect(agent.cards).toContainText('second');
  await expect(agent.cards).toBeFocused();
  await page.keyboard.press('y');
  await agent.isIdle();
});
