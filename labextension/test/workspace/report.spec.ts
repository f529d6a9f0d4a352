// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IRecentDocument, IWorkspaceDocument } from '../../src/protocol';
import { WorkspaceReport } from '../../src/workspace/report';

const ALL = {
  openDocuments: true,
  recentDocuments: true,
  activeDocument: true
};

describe('WorkspaceReport', () => {
  let open: Map<string, IWorkspaceDocument>;
  let active: string | null;
  let recents: IRecentDocument[];
  let described: string[];
  let report: WorkspaceReport;

  const put = (path: string, extra: Partial<IWorkspaceDocument> = {}) =>
    open.set(path, {
      path,
      languageId: 'python',
      kind: 'file',
      dirty: false,
      lastFocused: 'now',
      ...extra
    });

  const paths = (documents?: IWorkspaceDocument[]) =>
    documents?.map(({ path }) => path);

  beforeEach(() => {
    open = new Map();
    active = null;
    recents = [];
    described = [];
    report = new WorkspaceReport({
      get documents() {
        return [...open.keys()];
      },
      get active() {
        return active;
      },
      describe: path => {
        described.push(path);
        const document = open.get(path);
        return document ? { ...document } : null;
      },
      recents: notebooks =>
        recents.map(({ path, kind }) => ({
          path,
          kind,
          languageId: notebooks.get(path)
        }))
    });
    report.shares = ALL;
  });

  it('tells everything, even that there is nothing', () => {
    expect(report.full()).toEqual({
      full: true,
      documents: [],
      active: null,
      recents: [],
      shares: ALL
    });
    expect(report.changes()).toEqual({});
  });

  it('tells nothing twice', () => {
    put('a');
    report.full();
    report.markDocument('a');
    report.markRecents();
    expect(report.changes()).toEqual({});
    put('a', { dirty: true });
    report.markDocument('a');
    expect(report.changes()).toEqual({ documents: [open.get('a')] });
  });

  it('looks at one document of five hundred', () => {
    for (let count = 0; count < 500; count++) {
      put(`${count}`);
    }
    report.full();
    described.length = 0;
    put('7', { cursor: { line: 1, character: 2 } });
    report.markDocument('7');
    expect(paths(report.changes().documents)).toEqual(['7']);
    expect(described).toEqual(['7']);
  });

  it('tells a rename as one closed and one opened', () => {
    put('old');
    active = 'old';
    report.full();
    open.delete('old');
    put('new');
    active = 'new';
    report.markDocument('old');
    report.markDocument('new');
    expect(report.changes()).toEqual({
      active: 'new',
      documents: [open.get('new')],
      closed: ['old']
    });
  });

  it('does not call closed what was never open or is open again', () => {
    put('a');
    report.full();
    report.markDocument('a');
    report.markDocument('b');
    expect(report.changes()).toEqual({});
  });

  it('tells the language of a recent notebook when it becomes known', () => {
    recents = [{ path: 'n', kind: 'notebook' }];
    expect(report.full().recents).toEqual(recents);
    put('n', { kind: 'notebook', languageId: 'r' });
    report.markDocument('n');
    expect(report.changes().recents).toEqual([
      { path: 'n', kind: 'notebook', languageId: 'r' }
    ]);
  });

  it('keeps to itself what the user does not share', () => {
    put('a');
    put('b');
    active = 'a';
    recents = [{ path: 'a', kind: 'file' }];
    report.shares = {
      openDocuments: false,
      recentDocuments: false,
      activeDocument: false
    };
    const { shares, ...rest } = report.full();
    expect(shares).toBe(report.shares);
    expect(rest).toEqual({
      full: true,
      documents: [],
      active: null,
      recents: []
    });
    expect(described).toEqual([]);
  });

  it('does not betray the active document among the open ones', () => {
    put('a');
    active = 'a';
    report.shares = { ...ALL, activeDocument: false };
    const { documents, active: told } = report.full();
    expect(told).toBeNull();
    expect(documents?.[0]).not.toHaveProperty('lastFocused');
  });

  it('tells only the active document if the others are not shared', () => {
    put('a');
    put('b');
    active = 'a';
    report.shares = { ...ALL, openDocuments: false };
    expect(paths(report.full().documents)).toEqual(['a']);
    active = 'b';
    const next = report.changes();
    expect(paths(next.documents)).toEqual(['b']);
    expect(next.closed).toEqual(['a']);
    expect(next.active).toBe('b');
    active = null;
    expect(report.changes()).toEqual({ active: null, closed: ['b'] });
  });
});
