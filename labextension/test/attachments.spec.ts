// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { promptBlocks } from '../src/model/attachments';
import { type MessagePart, appendContent } from '../src/model/items';

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
      text: expect.stringContaining(
        'The notebook né.ipynb (/home/a b/né.ipynb): read it with read_notebook'
      ) as string
    });
    const parts: MessagePart[] = [];
    appendContent(parts, block);
    expect(parts).toMatchObject([
      { type: 'block', block: { type: 'resource_link', name: 'né.ipynb', uri } }
    ]);
  });
});
