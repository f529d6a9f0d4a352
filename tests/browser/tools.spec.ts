// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { type Locator, expect, test } from './browser';

import { AgentPage, type IDocument } from './agent';
import { Tools, notebook } from './tools';

async function hasNoDialog(agent: AgentPage): Promise<void> {
  await expect(agent.page.locator('.jp-Dialog')).toHaveCount(0);
}

/** A button by all of its name: a card has several that begin in the same way. */
function button(agent: AgentPage, name: string): Locator {
  return agent.panel.getByRole('button', { name, exact: true });
}

test('tools change and run the notebook that the user looks at', async ({
  page,
  request
}) => {
  test.setTimeout(150_000);
  const agent = await AgentPage.begin(page, request);
  await agent.put(
    'tools.ipynb',
    notebook('python3', 'x = 6', 'print(x * 7)', '', '1 / 0')
  );
  await agent.put('tools-2.ipynb', notebook('bash', 'echo hello'));
  await agent.put('tools.py', 'saved = 1\n');
  await agent.show('tools-2.ipynb');
  await agent.show('tools.py');
  const editor = page.locator('.jp-FileEditor:not(.lm-mod-hidden) .cm-content');
  await editor.click();
  await page.keyboard.insertText('unsaved = ');
  await agent.show('tools.ipynb');
  const tools = await Tools.of(agent);

  // What is open is what the screen shows.
  const { documents } = JSON.parse(await tools.text('open_documents')) as {
    documents: IDocument[];
  };
  const languages = documents.map(({ uri, languageId }) => [
    uri.split('/').pop(),
    languageId
  ]);
  // Windows of other tests may still count as open.
  expect(Object.fromEntries(languages)).toMatchObject({
    'tools.ipynb': 'python',
    'tools-2.ipynb': 'shellscript',
    'tools.py': 'python'
  });
  expect(await tools.text('active_document')).toContain('/tools.ipynb');
  expect(await tools.text('recent_documents', { limit: 1 })).toContain(
    '/tools.ipynb'
  );

  // What the user types is seen, and is not disturbed.
  await agent.cell(2).locator('.cm-content').click();
  await page.keyboard.insertText('# mine');
  const read = await tools.text('read_notebook');
  expect(read).toContain('Open in a window, with unsaved changes.');
  expect(read).toContain('type="code" active="true">\n# mine');
  expect(read).toContain('Kernel python3: idle');
  await tools.text('edit_cell', { cell_id: 'cell-0', source: 'x = 5' });
  const edited = agent.cell(0).locator('.cm-content');
  await expect(edited).toHaveText('x = 5');
  await edited.click();
  await page.keyboard.press('Control+z');
  await expect(edited).toHaveText('x = 6');
  await page.keyboard.press('Control+Shift+z');
  await expect(edited).toHaveText('x = 5');
  await agent.cell(2).locator('.cm-content').click();

  // Running is asked for, once.
  const running = tools.call(
    ['run_cell', { cell_id: 'cell-0' }],
    ['run_cell', { cell_id: 'cell-1' }],
    ['run_cell', { cell_id: 'cell-3' }],
    ['run_code', { code: 'x + 1' }],
    ['read_variables', {}]
  );
  await button(
    agent,
    'Run everything in this notebook in this session'
  ).click();
  await agent.cell(2).locator('.cm-content').click();
  await page.keyboard.press('End');
  await page.keyboard.insertText(', still');
  const [first, second, third, fourth, fifth] = await running;
  await page.keyboard.insertText(' mine');
  expect(first.text).toContain('Cell cell-0 [1] ran.');
  expect(second.text).toBe('Cell cell-1 [2] ran.\n35');
  expect(third.isError).toBe(true);
  expect(third.text).toContain('ZeroDivisionError: division by zero');
  expect(fourth.text).toContain('6');
  expect(fifth.text).toContain('x: int = 5');

  // It is all there, as if the user had run it.
  const output = agent.cell(1).locator('.jp-OutputArea-output');
  await expect(output).toHaveText('35');
  await expect(agent.cell(1).locator('.jp-InputArea-prompt')).toHaveText(
    '[2]:'
  );
  await expect(agent.cell(2).locator('.cm-content')).toHaveText(
    '# mine, still mine'
  );
  await hasNoDialog(agent);

  // Too long is interrupted, and a kernel that was shut down is started.
  await tools.text('insert_cell', {
    source: 'import time\ntime.sleep(60)',
    after: 'cell-3'
  });
  const cells = await tools.text('read_notebook', { start: 4 });
  const id = /id="([^"]+)"/.exec(cells)![1];
  const [slow] = await tools.call(['run_cell', { cell_id: id, timeout: 2 }]);
  expect(slow.isError).toBe(true);
  expect(slow.text).toContain('was interrupted');
  expect(slow.text).toContain('KeyboardInterrupt');
  await agent.execute('kernelmenu:shutdown');
  expect(await tools.text('read_notebook')).toContain('No kernel is running');
  const again = await tools.text('run_cell', { cell_id: 'cell-0' });
  expect(again).toContain('Cell cell-0 [1] ran.');
  await agent.execute('kernelmenu:shutdown');
  const [code] = await tools.call(['run_code', { code: '1 + 1' }]);
  expect(code).toMatchObject({ isError: false });
  expect(code.text).toContain('2');
  await hasNoDialog(agent);
});

test('no dialog holds up an agent', async ({ page, request }) => {
  const agent = await AgentPage.begin(page, request);
  await agent.put('odd.ipynb', notebook('cobol', 'DISPLAY "HELLO".'));
  await agent.execute('docmanager:open', { path: 'odd.ipynb' });
  // JupyterLab asks its user which kernel to take.
  await expect(page.locator('.jp-Dialog')).toBeVisible();
  await page.keyboard.press('Escape');
  await hasNoDialog(agent);
  const tools = await Tools.of(agent);
  const running = tools.call([
    'run_cell',
    { path: 'odd.ipynb', cell_id: 'cell-0', timeout: 30 }
  ]);
  await button(agent, 'Run').click();
  const [answer] = await running;
  expect(answer.isError).toBe(true);
  expect(answer.text).toContain('the user has to choose one');
  await hasNoDialog(agent);
});

test('several cells are run after one question, in a kernel that is restarted', async ({
  page,
  request
}) => {
  const agent = await AgentPage.begin(page, request);
  const tools = await Tools.of(agent);
  const made = await tools.text('create_notebook', {
    path: 'made.ipynb',
    kernel: 'python',
    cells: [
      { type: 'markdown', source: '# Made' },
      { source: 'x = 20' },
      { source: 'print(x + 1)' },
      { source: '1 / 0' },
      { source: 'print("never")' }
    ]
  });
  expect(made).toContain('for the kernel python3');
  const [again] = await tools.call(['create_notebook', { path: 'made.ipynb' }]);
  expect(again.isError).toBe(true);
  expect(again.text).toContain('is there already');
  // Nothing is opened by that.
  await expect(page.locator('.jp-NotebookPanel')).toHaveCount(0);
  await agent.show('made.ipynb');

  const running = tools.call(['run_cells', { path: 'made.ipynb', first: '1' }]);
  await expect(agent.cards).toHaveCount(1);
  await expect(agent.cards).toContainText('Run cells 2 to 5 of made.ipynb');
  await expect(agent.cards).toContainText('print(x + 1)');
  await button(agent, 'Run').click();
  const [ran] = await running;
  expect(ran.isError).toBe(true);
  expect(ran.text).toContain('21');
  expect(ran.text).toContain('ZeroDivisionError');
  expect(ran.text).toContain('1 more cells were not run.');
  const output = (index: number) =>
    agent.cell(index).locator('.jp-OutputArea-output');
  await expect(output(2)).toHaveText('21');
  await expect(output(3)).toContainText('ZeroDivisionError');
  await expect(agent.cell(4).locator('.jp-InputArea-prompt')).toHaveText(
    '[ ]:'
  );

  const restarting = tools.call(['restart_kernel', { path: 'made.ipynb' }]);
  await expect(agent.cards).toHaveCount(1);
  await expect(agent.cards).toContainText('Restart the kernel of made.ipynb');
  await expect(agent.cards).toContainText('Its variables are lost.');
  // What the buttons do is what they say.
  await expect(agent.cards.locator('.jp-acp-Option-mark')).toHaveCount(0);
  await button(agent, 'Restart').click();
  const [restarted] = await restarting;
  expect(restarted).toMatchObject({ isError: false });
  expect(await tools.text('read_variables', { path: 'made.ipynb' })).toBe(
    'There are no variables yet.'
  );
  // The window knows the kernel that has come.
  await agent.execute('notebook:run-cell');
  await hasNoDialog(agent);
});

test('an open file is saved as the user sees it', async ({ page, request }) => {
  const agent = await AgentPage.begin(page, request);
  await agent.put('typed.py', 'saved = 1\n');
  await agent.show('typed.py');
  const tools = await Tools.of(agent);
  const save = () => tools.text('save_document', { path: 'typed.py' });
  expect(await save()).toContain('no unsaved changes');
  const editor = page.locator('.jp-FileEditor:not(.lm-mod-hidden) .cm-content');
  await editor.click();
  await page.keyboard.press('Control+Home');
  await page.keyboard.insertText('un');
  await expect.poll(save).toContain('typed.py is saved.');
  expect(
    (await agent.saved<string>('typed.py')).startsWith('unsaved = 1')
  ).toBe(true);
  await agent.put('closed.py', '');
  expect(await tools.text('save_document', { path: 'closed.py' })).toContain(
    'Nobody has'
  );
  await hasNoDialog(agent);
});

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const PLOT = `from IPython.display import Image, display
from base64 import b64decode
print('drawn')
display(Image(b64decode('${PNG}')))`;

test('the transcript shows what the tools brought', async ({
  page,
  request
}) => {
  const agent = await AgentPage.begin(page, request);
  const sources = [PLOT, "print('before')\n1 / 0", 'never = 1'];
  await agent.put('rows.ipynb', notebook('python3', ...sources));
  await agent.show('rows.ipynb');
  const tools = await Tools.of(agent);
  const calling = tools.call(
    ['run_cell', { cell_id: 'cell-0' }],
    ['run_cell', { cell_id: 'cell-1' }],
    ['run_code', { code: 'answer = 42\nanswer / 4' }],
    ['read_variables', {}],
    ['read_notebook', {}],
    ['read_notebook', { count: 2 }]
  );
  await button(
    agent,
    'Run everything in this notebook in this session'
  ).click();
  const answers = await calling;
  expect(answers.map(({ isError }) => isError)).toEqual([
    false,
    true,
    ...[false, false, false, false]
  ]);
  const row = (name: string): Locator =>
    agent.log.getByRole('region', { name: `${name} rows.ipynb`, exact: true });

  const plot = row('Run cell 1 of');
  await expect(plot.locator('.jp-acp-CodeText')).toHaveText(PLOT);
  await expect(plot.locator('.jp-acp-Outputs')).toContainText('drawn');
  await expect(plot.locator('img')).toHaveAttribute(
    'src',
    `data:image/png;base64,${PNG}`
  );
  await expect(plot.getByTitle('Failed')).toHaveCount(0);

  const failed = row('Run cell 2 of');
  await expect(failed.locator('.jp-acp-CodeText')).toHaveText(sources[1]);
  await expect(failed.locator('.jp-acp-Outputs')).toContainText('before');
  await expect(failed.locator('.ansi-red-fg').last()).toContainText(
    'ZeroDivisionError'
  );
  await expect(failed.getByTitle('Failed')).toBeVisible();

  const code = row('Run code in the kernel of');
  await expect(code.locator('.jp-acp-CodeText')).toHaveText(
    'answer = 42\nanswer / 4'
  );
  await expect(code.locator('.jp-acp-Output')).toHaveText('10.5');

  const variables = row('Look at the variables of');
  await variables.getByRole('button').first().click();
  await expect(
    variables.getByRole('row').filter({ hasText: 'answer' })
  ).toHaveText('answerint42');

  await expect(row('Read 3 cells of')).toHaveCount(1);
  await expect(row('Read 2 of 3 cells of')).toHaveCount(1);
});
