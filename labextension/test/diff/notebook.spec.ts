// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { parseNotebook, readNotebook } from '../../src/diff/notebook';
import { cell } from '../support/notebooks';

describe('parseNotebook', () => {
  const parse = (...cells: object[]) =>
    parseNotebook({ nbformat: 4, nbformat_minor: 5, metadata: {}, cells });

  it('brings all spellings of a cell to one', () => {
    const { cells } = parse(
      {
        id: 'a',
        cell_type: 'code',
        source: ['a\r\n', 'b'],
        metadata: { trusted: true, tags: [] },
        outputs: [
          { output_type: 'stream', name: 'stdout', text: ['1\n', '2'] },
          {
            output_type: 'display_data',
            metadata: {},
            data: { 'text/html': ['<b>', '</b>'], 'application/json': ['1'] }
          }
        ],
        execution_count: 2
      },
      { cell_type: 'markdown', source: '', attachments: { 'a.png': {} } }
    );
    expect(cells).toEqual([
      cell('a', 'a\nb', {
        metadata: { tags: [] },
        outputs: [
          { output_type: 'stream', name: 'stdout', text: '1\n2' },
          {
            output_type: 'display_data',
            metadata: {},
            data: { 'text/html': '<b></b>', 'application/json': ['1'] }
          }
        ],
        execution_count: 2
      }),
      cell('', '', { cell_type: 'markdown', attachments: { 'a.png': {} } })
    ]);
  });

  it.each([
    ['not an object', null],
    ['format 4', { nbformat: 3, worksheets: [] }],
    ['no list of cells', { nbformat: 4 }],
    ['Cell 1 is not an object', { nbformat: 4, cells: ['x'] }],
    ['no known cell type', { cells: [{ cell_type: 'sql', source: '' }] }],
    ['no source', { cells: [{ cell_type: 'raw' }] }],
    ['outputs', { cells: [{ cell_type: 'code', source: '', outputs: 'text' }] }]
  ])('tells that something is wrong: %s', (words, content) => {
    expect(() => parseNotebook(content)).toThrow(words);
  });
});

describe('readNotebook', () => {
  it('keeps all that a file has, as it is written there', () => {
    const content = {
      nbformat: 4,
      extra: [1],
      cells: [{ cell_type: 'raw', source: ['a\r\n', 'b'], odd: { a: null } }]
    };
    expect(readNotebook(structuredClone(content))).toEqual(content);
  });
});
