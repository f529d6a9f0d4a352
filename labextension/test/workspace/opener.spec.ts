// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IDocumentManager } from '@jupyterlab/docmanager';

import { DocumentOpener } from '../../src/workspace/opener';

describe('DocumentOpener', () => {
  const opener = new DocumentOpener({
    manager: {} as IDocumentManager,
    rootDir: () => '/home/u/work/'
  });

  it.each([
    ['/home/u/work/a.py', { path: 'a.py' }],
    ['file:///home/u/work/my%20data/a%23b.csv', { path: 'my data/a#b.csv' }],
    ['/home/u/work/a.py:12', { path: 'a.py', line: 12 }],
    ['/home/u/work/a.py:12:4', { path: 'a.py', line: 12 }],
    ['file:///home/u/work/a.py#L7-L9', { path: 'a.py', line: 7 }],
    ['file:///home/u/work/n.ipynb#cell=abc', { path: 'n.ipynb' }],
    ['src/a.py#L3', { path: 'project/src/a.py', line: 3 }],
    ['./src/../b.py', { path: 'project/b.py' }],
    ['../c.py', { path: 'c.py' }],
    ['%zz.py', { path: 'project/%zz.py' }]
  ])('finds %s', (target, place) => {
    expect(opener.find(target, '/home/u/work/project')).toEqual(
      'line' in place ? place : { ...place, line: undefined }
    );
  });

  it.each([
    '/home/u/work2/a.py',
    '/home/u/work',
    '/etc/passwd',
    '../../a.py',
    '/home/u/work/../other/a.py',
    'javascript:alert(1)',
    'data:text/html,x',
    'https://example.org/a.py',
    'file://%',
    '#heading',
    ''
  ])('does not find %s', target => {
    expect(opener.find(target, '/home/u/work/project')).toBeNull();
  });

  it('finds nothing before the server has told where it is', () => {
    const early = new DocumentOpener({
      manager: {} as IDocumentManager,
      rootDir: () => undefined
    });
    expect(early.find('/home/u/work/a.py')).toBeNull();
  });
});
