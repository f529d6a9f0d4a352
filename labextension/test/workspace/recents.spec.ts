// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IRecentsManager } from '@jupyterlab/docmanager';

import {
  type IRecentsOptions,
  recentDocuments
} from '../../src/workspace/recents';

const options = {
  contents: {
    driveName: (path: string) => (path.startsWith('S3:') ? 'S3' : ''),
    localPath: (path: string) => path.replace(/^\//, '')
  },
  languages: {
    findByFileName: (path: string) =>
      path.endsWith('.py') ? { name: 'Python', mime: 'text/x-python' } : null
  },
  registry: {
    getFileTypesForPath: (path: string) =>
      path.endsWith('.png')
        ? [{ contentType: 'file', fileFormat: 'base64' }]
        : path.endsWith('.ipynb')
          ? [{ contentType: 'notebook', fileFormat: 'json' }]
          : []
  }
} as unknown as IRecentsOptions;

function recents(
  opened: [string, string][],
  closed: [string, string][] = []
): IRecentsManager {
  const list = (items: [string, string][]) =>
    items.map(([path, contentType]) => ({ path, contentType, root: '/' }));
  return {
    recentlyOpened: list(opened),
    recentlyClosed: list(closed)
  } as unknown as IRecentsManager;
}

describe('recentDocuments', () => {
  it('lists each document once, the newest first', () => {
    const manager = recents(
      [
        ['b.py', 'file'],
        ['', 'directory'],
        ['a.ipynb', 'notebook']
      ],
      [
        ['c', 'file'],
        ['b.py', 'file']
      ]
    );
    expect(recentDocuments(manager, options, new Map())).toEqual([
      { path: 'b.py', languageId: 'python', kind: 'file' },
      { path: 'a.ipynb', kind: 'notebook' },
      { path: 'c', languageId: 'plaintext', kind: 'file' }
    ]);
  });

  it('leaves out other drives and what is not text', () => {
    const manager = recents([
      ['S3:a.py', 'file'],
      ['a.png', 'file'],
      ['dir', 'directory']
    ]);
    expect(recentDocuments(manager, options, new Map())).toEqual([]);
  });

  it('knows the language of a notebook that was open, even as text', () => {
    const manager = recents([['a.ipynb', 'file']]);
    const seen = new Map([['a.ipynb', 'r']]);
    expect(recentDocuments(manager, options, seen)).toEqual([
      { path: 'a.ipynb', languageId: 'r', kind: 'notebook' }
    ]);
  });
});
