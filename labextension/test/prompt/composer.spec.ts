// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { Attachment } from '../../src/api/attachment';
import { promptBlocks } from '../../src/prompt/attachment';
import { Composer, PromptHistory } from '../../src/prompt/composer';
import { fenced } from '../../src/ui/fence';

const FILE: Attachment = { type: 'file', name: 'a.py', uri: 'file:///a.py' };
const CELL: Attachment = {
  type: 'text',
  name: 'n.ipynb: cell 1',
  uri: 'file:///n.ipynb#cell=x',
  text: 'print(1)'
};
const IMAGE: Attachment = {
  type: 'image',
  name: 'plot',
  mimeType: 'image/png',
  data: 'AAAA'
};

describe('what goes with a prompt', () => {
  it('is embedded where the agent takes it, and told in words where not', () => {
    expect(
      promptBlocks('Look', [FILE, CELL, IMAGE], { embeddedContext: true })
    ).toEqual([
      { type: 'text', text: 'Look' },
      { type: 'resource_link', uri: 'file:///a.py', name: 'a.py' },
      {
        type: 'resource',
        resource: { uri: 'file:///n.ipynb#cell=x', text: 'print(1)' },
        _meta: { 'jupyter-acp': { name: 'n.ipynb: cell 1' } }
      },
      {
        type: 'image',
        mimeType: 'image/png',
        data: 'AAAA',
        _meta: { 'sandboxagent.dev': { filename: 'plot' } }
      }
    ]);
    const [block] = promptBlocks('', [CELL], {});
    expect(block).toMatchObject({
      type: 'text',
      text: expect.stringContaining('```\nprint(1)\n```') as string
    });
  });

  it('cannot end its own fence', () => {
    expect(fenced('a\n````\nb', 'md')).toBe('`````md\na\n````\nb\n`````');
  });
});

describe('Composer', () => {
  it('keeps everything over a reload, and what older pages kept', () => {
    const composer = new Composer();
    composer.text = 'half';
    composer.attach(FILE, CELL);
    const again = new Composer(composer.serialized());
    expect([again.text, again.attachments]).toEqual(['half', [FILE, CELL]]);
    expect(new Composer('plain words').text).toBe('plain words');
    const { id } = composer.send(composer.take());
    expect(new Composer(composer.serialized()).sent).toEqual([
      { id, text: 'half', attachments: [FILE, CELL] }
    ]);
    composer.arrived(id);
    expect(composer.serialized()).toBe('');
  });

  it('attaches the same thing once, and lets it go', () => {
    const composer = new Composer();
    composer.attach(FILE, IMAGE);
    composer.attach({ ...FILE }, { ...IMAGE });
    expect(composer.attachments).toEqual([FILE, IMAGE]);
    composer.detach(composer.attachments[0]);
    expect(composer.attachments).toEqual([IMAGE]);
  });

  it('lets a mentioned thing go with its name, and only that', () => {
    const composer = new Composer();
    composer.attach(CELL);
    composer.text = 'Compare @a.py with @a.pyx';
    composer.mention('a.py', FILE);
    composer.mention('a.pyx', { ...FILE, uri: 'file:///a.pyx' });
    const uris = () =>
      composer.attachments.map(each => 'uri' in each && each.uri);
    composer.text = '@a.py. Compare it with @a.pyx';
    expect(uris()).toEqual([CELL.uri, 'file:///a.py', 'file:///a.pyx']);
    composer.text = 'Compare with @a.pyx, please';
    expect(uris()).toEqual([CELL.uri, 'file:///a.pyx']);
    composer.text = '';
    expect(composer.attachments).toEqual([CELL]);
    composer.text = '@a.py again';
    expect(composer.attachments).toEqual([CELL]);
    composer.mention('a.py', FILE);
    expect(uris()).toEqual([CELL.uri, 'file:///a.py']);
  });

  it('lets go what was mentioned when its name becomes another one', () => {
    const composer = new Composer();
    composer.text = '@cell-1 ';
    composer.mention('cell-1', CELL);
    composer.text = '@cell-12';
    expect(composer.attachments).toEqual([]);
  });

  it('keeps what is attached by itself, however often it is mentioned', () => {
    const composer = new Composer();
    composer.attach(FILE);
    composer.text = '@a.py and @cell-1';
    composer.mention('a.py', FILE);
    composer.mention('cell-1', CELL);
    composer.attach(CELL);
    composer.text = '';
    expect(composer.attachments).toEqual([FILE, CELL]);
  });

  it('knows what was mentioned after a reload and when a message comes back', () => {
    const composer = new Composer();
    composer.text = 'See @a.py';
    composer.mention('a.py', FILE);
    const { id } = composer.send(composer.take());
    composer.giveBack(id);
    expect(composer.attachments).toHaveLength(1);
    const again = new Composer(composer.serialized());
    for (const each of [composer, again]) {
      expect(each.attachments).toHaveLength(1);
      each.text = 'See';
      expect(each.attachments).toEqual([]);
    }
  });

  it('has back what could not be said, before what was written since', () => {
    const composer = new Composer();
    composer.text = 'first';
    composer.attach(FILE);
    const said = composer.send(composer.take());
    composer.text = 'second';
    composer.attach(CELL);
    composer.giveBack(said.id);
    expect(composer.text).toBe('first\nsecond');
    expect(composer.attachments).toEqual([FILE, CELL]);
    composer.giveBack(said.id);
    expect(composer.text).toBe('first\nsecond');
  });
});

describe('PromptHistory', () => {
  it('goes back and returns to the empty prompt', () => {
    const history = new PromptHistory(() => ['one', 'two']);
    expect(history.back()).toBe('two');
    expect(history.isShown('two')).toBe(true);
    expect(history.back()).toBe('one');
    expect(history.back()).toBeNull();
    expect(history.forward()).toBe('two');
    expect(history.forward()).toBe('');
    expect(history.forward()).toBeNull();
    expect(history.back()).toBe('two');
    history.leave();
    expect(history.isShown('two')).toBe(false);
    expect(history.back()).toBe('two');
  });
});
