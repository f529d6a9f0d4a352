// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Versions } from '../../src/documents/versions';

describe('Versions', () => {
  it('names the same content once while it stays', () => {
    const versions = new Versions();
    const first = versions.nameOf('one');
    expect(versions.nameOf('one')).toBe(first);
    const second = versions.nameOf('two');
    expect(second).not.toBe(first);
    expect(versions.get(first)).toBe('one');
    expect(versions.get(second)).toBe('two');
    expect(versions.nameOf('one')).not.toBe(first);
  });

  it('compares notebooks by what is in them', () => {
    const versions = new Versions();
    const name = versions.nameOf({ metadata: { a: [1] }, cells: [] });
    expect(versions.nameOf({ metadata: { a: [1] }, cells: [] })).toBe(name);
    expect(versions.nameOf({ metadata: {}, cells: [] })).not.toBe(name);
  });

  it('knows nothing of names that it never gave or gave long ago', () => {
    const versions = new Versions();
    const first = versions.nameOf('0');
    expect(new Versions().get(first)).toBeUndefined();
    for (let each = 1; each <= 8; each++) {
      versions.nameOf(String(each));
    }
    expect(versions.get(first)).toBeUndefined();
  });
});
