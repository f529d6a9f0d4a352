// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { type Locator, expect, test } from './browser';

import { AgentPage } from './agent';
import { ChatPage } from './chat';
import { type ICell, type INotebook, code } from './documents';

function notebook(...cells: ICell[]): INotebook {
  return {
    nbformat: 4,
    nbformat_minor: 5,
    metadata: { kernelspec: { name: 'python3', display_name: 'Python 3' } },
    cells
  };
}

test('a cell that failed is sent with its error and what is around it', async ({
  page,
  request
}) => {
  const agent = new AgentPage((await ChatPage.open(page)).page, request);
  const words = (id: string, source: string): ICell => ({
    id,
    cell_type: 'markdown',
    source,
    metadata: {}
  });
  await agent.put(
    'fails.ipynb',
    notebook(
      words('title', '# Far away'),
      words('why', 'Why we count'),
      code('a', 'far = 0'),
      code('b', 'numbers = [1, 2]'),
      code('c', `long = '${'x'.repeat(20_000)}'`),
      code('d', ''),
      code('e', 'print("before")'),
      code('f', 'print("so far")\nnumbers[5]'),
      code('g', 'print(numbers)'),
      code('h', 'far_behind = 1')
    )
  );
  await agent.show('fails.ipynb');
  const fix = page
    .locator('.jp-cell-toolbar')
    .getByTitle(/the surrounding cells/);
  await expect(fix).toBeHidden();
  await agent.execute('notebook:run-all-cells');
  await expect(agent.cell(7)).toContainText('IndexError');
  await agent.cell(7).locator('.cm-content').click();
  await fix.click();

  // No session was open: one was made, with the agent that is there.
  await expect(agent.prompts).toHaveCount(1);
  await expect(agent.prompts).toContainText('This cell fails');
  const sent = agent.prompts.locator('details', { hasText: 'fails.ipynb: ' });
  const names = [2, 4, 5, 7, 8, 9].map(n => `fails.ipynb: cell ${n}`);
  await expect(sent.locator('summary')).toHaveText(names);
  const cell = (number: number): Locator =>
    sent.filter({ hasText: `cell ${number}` });
  await expect(cell(2)).toContainText('Why we count');
  await expect(cell(4)).toContainText('numbers = [1, 2]');
  expect((await cell(5).textContent())!.length).toBeLessThan(5000);
  await expect(cell(7)).toContainText(/Output:\s*```\s*before/);
  await expect(cell(8)).toContainText('The cell that fails:');
  await expect(cell(8)).toContainText(/Output:\s*```\s*so far/);
  await expect(cell(8)).toContainText(/Error:[^]*IndexError/);
  await expect(cell(9)).toContainText('print(numbers)');
  await agent.isIdle();
});

test('cells are explained and asked about from their menu', async ({
  page,
  request
}) => {
  const agent = await AgentPage.begin(page, request);
  await agent.newSession('builtin');
  await agent.put('menu.ipynb', notebook(code('a', 'x = 1')));
  await agent.show('menu.ipynb');
  const choose = async (name: string): Promise<void> => {
    await agent.cell(0).locator('.cm-content').click({ button: 'right' });
    await page.getByRole('menuitem', { name }).click();
  };
  await choose('Ask the Agent about This Cell');
  await expect(
    agent.panel.locator('.jp-acp-Attachment', { hasText: 'menu.ipynb: cell 1' })
  ).toHaveCount(2);
  await expect(agent.input).toBeFocused();
  await choose('Explain This Cell');
  await expect(agent.prompts.last()).toContainText('Explain this cell.');
  await agent.isIdle();
  // What was being prepared is still there.
  await expect(agent.panel.locator('li.jp-acp-Attachment')).toHaveCount(1);
});

test('files of the file browser are asked about', async ({ page, request }) => {
  const agent = await AgentPage.begin(page, request);
  await agent.put('ask-me.txt', 'x');
  await agent.execute('filebrowser:refresh');
  await page
    .locator('.jp-DirListing-item', { hasText: 'ask-me.txt' })
    .click({ button: 'right' });
  await page
    .getByRole('menuitem', { name: 'Ask the Agent about This File' })
    .click();
  await expect(
    agent.panel.locator('.jp-acp-Attachment', { hasText: 'ask-me.txt' })
  ).toBeVisible();
});

test('code goes from an answer into the notebook, and runs', async ({
  page,
  request,
  context
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const agent = await AgentPage.begin(page, request);
  await agent.put('code.ipynb', notebook(code('a', 'old = 1')));
  await agent.show('code.ipynb');
  await agent.play(['chunk', 'Try\n\n```python\nprint(6 * 7)\n```\n']);
  const block = agent.answers.last().locator('.jp-acp-Code');
  const press = async (name: string): Promise<void> => {
    await block.hover();
    await block.getByRole('button', { name }).click();
  };
  await press('Copy');
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
    'print(6 * 7)'
  );
  await press('Insert below and run');
  await expect(agent.cell(1)).toContainText('print(6 * 7)');
  await expect(agent.cell(1)).toContainText('42');
  await agent.cell(0).locator('.cm-content').click();
  await press('Insert below the active cell');
  await expect(agent.cell(1)).toContainText('print(6 * 7)');
  await expect(agent.cell(2)).toContainText('42');
  await agent.cell(0).locator('.cm-content').click();
  await press('Replace the active cell');
  await expect(agent.cell(0)).not.toContainText('old');
  await expect(agent.cell(0)).toContainText('print(6 * 7)');
});

test('code without a notebook says what to do', async ({ page, request }) => {
  const agent = await AgentPage.begin(page, request);
  await agent.execute('application:close-all');
  await agent.play(['chunk', '```\nnowhere\n```\n']);
  const block = agent.answers.last().locator('.jp-acp-Code');
  await block.hover();
  await block.getByRole('button', { name: 'Insert below and run' }).click();
  await expect(page.getByText('Open a notebook first')).toBeVisible();
});

test('links of answers open documents at their lines', async ({
  page,
  request
}) => {
  const agent = await AgentPage.begin(page, request);
  const lines = Array.from({ length: 90 }, (_, n) => `line_${n + 1} = 1\n`);
  await agent.put('linked.py', lines.join(''));
  const uri = `file://${await agent.root()}/linked.py#L80`;
  await agent.play(
    ['chunk', 'See [the place](linked.py#L70), not [this](javascript:x).'],
    [
      'update',
      {
        sessionUpdate: 'agent_message_chunk',
        content: { type: 'resource_link', uri, name: 'the file' }
      }
    ],
    [
      'update',
      {
        sessionUpdate: 'tool_call',
        toolCallId: 'read',
        title: 'Read',
        kind: 'read',
        status: 'completed',
        locations: [{ path: `${await agent.root()}/linked.py`, line: 60 }]
      }
    ]
  );
  const at = page.locator('.jp-StatusBar-Widget').getByText(/^Ln \d+/);
  await agent.log.getByRole('link', { name: 'the place' }).click();
  await expect(at).toHaveText(/^Ln 70,/);
  await agent.log.getByRole('button', { name: 'the file' }).click();
  await expect(at).toHaveText(/^Ln 80,/);
  await agent.log.getByRole('button', { name: 'linked.py:60' }).click();
  await expect(at).toHaveText(/^Ln 60,/);
  expect(page.url()).toContain('/lab');
});
