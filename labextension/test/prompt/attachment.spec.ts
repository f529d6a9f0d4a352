// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { Attachment } from '../../src/api/attachment';
import { promptBlocks } from '../../src/prompt/attachment';
import { type MessagePart, appendContent } from '../../src/transcript/items';

const folder = 'file:///home/a%20b';

describe('promptBlocks', () => {
  it('links to files without saying of which type they are', () => {
    const file = {
      type: 'file',
      name: 'a.csv',
      uri: `${folder}/a.csv`
    } as const;
    expect(promptBlocks('Look', [file], {})).toEqual([
      { type: 'text', text: 'Look' },
      { type: 'resource_link', name: 'a.csv', uri: `${folder}/a.csv` }
    ]);
  });

  it('names a notebook in words, which people see as a link', () => {
    const uri = `${folder}/n%C3%A9.ipynb`;
    const file = { type: 'file', name: 'né.ipynb', uri } as const;
    const [block] = promptBlocks('', [file], { embeddedContext: true });
    expect(block).toMatchObject({
      type: 'text',
      text: '\nThe user means the notebook né.ipynb (/home/a b/né.ipynb).\n',
      _meta: { 'jupyter-acp': { uri } }
    });
    const parts: MessagePart[] = [];
    appendContent(parts, block);
    expect(parts).toMatchObject([
      { type: 'block', block: { type: 'resource_link', name: 'né.ipynb', uri } }
    ]);
  });

  it('tells an agent that works elsewhere nothing of our paths', () => {
    const file = { type: 'file', name: 'a.csv', uri: `${folder}/a.csv` };
    const notebook = {
      type: 'file',
      name: 'n.ipynb',
      uri: `${folder}/n.ipynb`
    };
    const cell = {
      type: 'text',
      name: 'n.ipynb: cell 1',
      uri: `${folder}/n.ipynb#cell=x`,
      text: 'print(1)'
    };
    const blocks = promptBlocks(
      'Look',
      [file, notebook, cell] as Attachment[],
      { embeddedContext: true, isRemote: true }
    );
    expect(JSON.stringify(blocks)).not.toContain('/home');
    expect(blocks).toMatchObject([
      { text: 'Look' },
      {
        text: '\nThe user means the file a.csv.\n',
        _meta: { 'jupyter-acp': { name: 'a.csv' } }
      },
      {
        text: '\nThe user means the notebook n.ipynb.\n',
        _meta: { 'jupyter-acp': { name: 'n.ipynb' } }
      },
      {
        text: '\nn.ipynb: cell 1:\n```\nprint(1)\n```\n',
        _meta: { 'jupyter-acp': { name: 'n.ipynb: cell 1' } }
      }
    ]);
  });
});
