// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { expect, test } from './browser';

import { AgentPage, type IDocument } from './agent';
import { type INotebook, code } from './documents';

function notebook(kernel: string, ...sources: string[]): object {
  return {
    nbformat: 4,
    nbformat_minor: 5,
    metadata: { kernelspec: { name: kernel, display_name: kernel } },
    cells: sources.map((source, index) => code(`cell-${index}`, source))
  };
}

test('an agent sees what the screen shows and edits it in place', async ({
  page,
  request
}) => {
  test.setTimeout(150_000);
  const agent = await AgentPage.begin(page, request);
  await agent.put(
    'one.ipynb',
    notebook('python3', 'x = 20 + 1\nprint(x)', 'y = 2', 'z = 3')
  );
  await agent.put('two.ipynb', notebook('bash', 'echo hello'));
  await agent.put('script.py', 'first = 1\nsecond = 2\n');

  await agent.show('two.ipynb');
  await agent.show('script.py');
  const editor = page.locator('.jp-FileEditor:not(.lm-mod-hidden) .cm-content');
  await editor.click();
  await page.keyboard.press('Control+End');
  await page.keyboard.insertText('unsaved = 3\n');
  await agent.show('one.ipynb');
  await agent.execute('notebook:run-all-cells');
  await expect(agent.cell(0).locator('.jp-OutputArea-output')).toHaveText('21');

  // It asks the three methods and gets what the screen shows.
  const open = await agent.open();
  expect(Object.keys(open).sort()).toEqual([
    'one.ipynb',
    'script.py',
    'two.ipynb'
  ]);
  const languages = Object.fromEntries(
    Object.entries(open).map(([name, { languageId }]) => [name, languageId])
  );
  expect(languages).toEqual({
    'one.ipynb': 'python',
    'two.ipynb': 'shellscript',
    'script.py': 'python'
  });
  // Shared documents save themselves.
  const isShared = test.info().project.name === 'collaboration';
  expect(open['script.py']._meta['jupyter-acp']).toMatchObject({
    kind: 'file',
    ...(isShared ? {} : { dirty: true })
  });
  // Kernels have moments in which nobody knows how they are.
  await expect
    .poll(async () => (await agent.open())['one.ipynb']?._meta['jupyter-acp'])
    .toMatchObject({
      kind: 'notebook',
      kernel: { name: 'python3', state: 'idle' }
    });
  expect(await agent.active()).toBe('one.ipynb');
  const recent = await agent.ask<{ documents: IDocument[] }>(
    'workspace/recent_documents',
    { limit: 2 }
  );
  expect(recent.documents).toHaveLength(2);
  expect(recent.documents[0].uri).toContain('one.ipynb');

  // It reads the unsaved text.
  const root = await agent.root();
  const script = await agent.ask('fs/read_text_file', {
    path: `${root}/script.py`
  });
  expect(script).toEqual({
    content: 'first = 1\nsecond = 2\nunsaved = 3\n'
  });

  // It rewrites one cell while another one is dirty.
  const path = `${root}/one.ipynb`;
  const { content } = await agent.ask<{ content: string }>(
    'fs/read_text_file',
    { path }
  );
  await agent.cell(2).locator('.cm-content').click();
  await page.keyboard.press('Control+Home');
  await page.keyboard.insertText('dirty = ');
  const wanted = JSON.parse(content) as { cells: { source: unknown }[] };
  wanted.cells[1].source = 'y = "by the agent"';
  expect(
    await agent.ask('fs/write_text_file', {
      path,
      content: JSON.stringify(wanted)
    })
  ).toEqual({});
  await expect(agent.cell(1).locator('.cm-content')).toHaveText(
    'y = "by the agent"'
  );
  await expect(agent.cell(2).locator('.cm-content')).toHaveText(
    'dirty = z = 3'
  );
  await expect(agent.cell(0).locator('.jp-OutputArea-output')).toHaveText('21');
  const saved = async (): Promise<string[]> => {
    const { cells } = await agent.saved<INotebook>('one.ipynb');
    return cells.map(({ source }) => source);
  };
  const sources = [
    'x = 20 + 1\nprint(x)',
    'y = "by the agent"',
    'dirty = z = 3'
  ];
  if (isShared) {
    await expect.poll(saved).toEqual(sources);
  }
  expect(await saved()).toEqual(sources);

  // Undo restores it, and saving brings up no question.
  await agent.cell(1).locator('.cm-content').click();
  await page.keyboard.press('Control+z');
  await expect(agent.cell(1).locator('.cm-content')).toHaveText('y = 2');
  if (isShared) {
    await expect.poll(saved).toContain('y = 2');
    await agent.knowsFile('one.ipynb');
  }
  await agent.execute('docmanager:save');
  await expect(page.locator('.jp-Dialog')).toHaveCount(0);
  await expect(agent.cell(0).locator('.jp-OutputArea-output')).toHaveText('21');
});

test('another kernel is another language, a terminal no document', async ({
  page,
  request
}) => {
  test.setTimeout(120_000);
  const agent = await AgentPage.begin(page, request);
  await agent.put('switch.ipynb', notebook('python3', 'pass'));
  await agent.show('switch.ipynb');
  // Windows tell what has changed a few times a second.
  await expect
    .poll(async () => (await agent.open())['switch.ipynb']?.languageId)
    .toBe('python');
  await page.evaluate(async () => {
    const { jupyterapp } = window as unknown as {
      jupyterapp: {
        shell: {
          currentWidget: {
            sessionContext: {
              changeKernel(options: object): Promise<{ info: Promise<void> }>;
            };
          };
        };
      };
    };
    const { sessionContext } = jupyterapp.shell.currentWidget;
    const kernel = await sessionContext.changeKernel({ name: 'bash' });
    await kernel.info;
  });
  await expect
    .poll(async () => (await agent.open())['switch.ipynb']?.languageId)
    .toBe('shellscript');

  // While the user types to the agent, the document stays the active one.
  expect(await agent.active()).toBe('switch.ipynb');
  await agent.execute('terminal:create-new');
  await expect(page.locator('.jp-Terminal')).toBeVisible();
  await expect.poll(() => agent.active()).toBeNull();
  await agent.execute('docmanager:open', { path: 'switch.ipynb' });
  await expect.poll(() => agent.active()).toBe('switch.ipynb');

  // Split views are one entry; a rename and a close are seen.
  await agent.execute('docmanager:clone');
  await expect(page.locator('.jp-NotebookPanel')).toHaveCount(2);
  expect(Object.keys(await agent.open())).toEqual(['switch.ipynb']);
  await page.evaluate(async () => {
    const { jupyterapp } = window as unknown as {
      jupyterapp: {
        serviceManager: {
          contents: { rename(from: string, to: string): Promise<void> };
        };
      };
    };
    const { contents } = jupyterapp.serviceManager;
    await contents.rename('switch.ipynb', 'a #, a % and é.ipynb');
  });
  agent.knows('a #, a % and é.ipynb');
  // A shared document hears of its new name from the server.
  await expect
    .poll(async () => Object.keys(await agent.open()))
    .toEqual(['a #, a % and é.ipynb']);
  const [{ uri }] = Object.values(await agent.open());
  expect(uri).toMatch(
    /^file:\/\/\/.*\/a%20%23,%20a%20%25%20and%20%C3%A9\.ipynb$/
  );
  // An agent that knows nothing yet is told of it by the path that the tools take.
  await agent.newSession('scripted');
  const prompt = await agent.tell<{ text: string }[]>('prompt');
  const path = `${await agent.root()}/a #, a % and é.ipynb`;
  expect(prompt.at(-1)?.text).toContain(`The notebook ${path} is open.`);
  if (test.info().project.name !== 'collaboration') {
    // Shared documents save themselves, and would be asked who wins.
    await agent.execute('docmanager:save');
  }
  await agent.execute('application:close');
  await expect(page.locator('.jp-NotebookPanel')).toHaveCount(1);
  expect(Object.keys(await agent.open())).toHaveLength(1);
  await agent.execute('docmanager:open', { path: 'a #, a % and é.ipynb' });
  await agent.execute('application:close');
  // One that is still being opened would take the focus when it comes.
  await expect(page.locator('.jp-NotebookPanel')).toHaveCount(0);
  await expect.poll(() => agent.open()).toEqual({});
});

test('a file that the agent writes by itself is reloaded, and merged with what was typed', async ({
  page,
  request
}) => {
  test.setTimeout(120_000);
  const agent = await AgentPage.begin(page, request);
  await agent.put('own.py', 'one = 1\ntwo = 2\nthree = 3\n');
  await agent.show('own.py');
  const root = await agent.root();
  const editor = page.locator('.jp-FileEditor:not(.lm-mod-hidden) .cm-content');
  const text = (): Promise<string> =>
    editor.evaluate(node => (node as HTMLElement).innerText);
  const shell = async (command: string): Promise<void> => {
    await agent.send(JSON.stringify([['shell', command]]));
    await agent.isIdle();
  };
  await shell(`sleep 3; sed -i 's/one = 1/one = "clean"/' '${root}/own.py'`);
  await expect.poll(text).toContain('one = "clean"');

  await editor.click();
  await page.keyboard.press('Control+End');
  await page.keyboard.insertText('typed = 4\n');
  if (test.info().project.name === 'collaboration') {
    // Until it is saved, the collaboration server takes the file for the truth.
    await expect
      .poll(() => agent.saved<string>('own.py'))
      .toContain('typed = 4');
  }
  await shell(`sed -i 's/two = 2/two = "merged"/' '${root}/own.py'`);
  await expect.poll(text).toContain('two = "merged"');
  expect(await text()).toContain('typed = 4');
  // That the window knows of what was brought in comes later.
  await agent.knowsFile('own.py');
  await agent.execute('docmanager:save');
  await expect(page.locator('.jp-Dialog')).toHaveCount(0);
  await expect
    .poll(() => agent.saved<string>('own.py'))
    .toBe('one = "clean"\ntwo = "merged"\nthree = 3\ntyped = 4\n');
});

test('who wins where both have written is for the user to say', async ({
  page,
  request
}) => {
  test.skip(
    test.info().project.name === 'collaboration',
    'shared documents save themselves: there is nothing unsaved to lose'
  );
  test.setTimeout(120_000);
  const agent = await AgentPage.begin(page, request);
  await agent.put('both.py', 'one = 1\ntwo = 2\n');
  await agent.show('both.py');
  const root = await agent.root();
  const editor = page.locator('.jp-FileEditor:not(.lm-mod-hidden) .cm-content');
  await editor.click();
  await page.keyboard.press('Control+Home');
  await page.keyboard.insertText('mine_');
  await agent.send(
    JSON.stringify([
      ['sleep', 3],
      ['shell', `sed -i 's/one = /agents = /' '${root}/both.py'`],
      ['sleep', 3]
    ])
  );
  await expect(agent.cards).toContainText('both.py was changed on disk');
  await expect(agent.cards.locator('.jp-acp-Diff')).toContainText('agents =');
  await agent.button('Keep mine').click();
  await agent.isIdle();
  await agent.knowsFile('both.py');
  await agent.execute('docmanager:save');
  await expect(page.locator('.jp-Dialog')).toHaveCount(0);
  await expect
    .poll(() => agent.saved<string>('both.py'))
    .toBe('mine_one = 1\ntwo = 2\n');
});
