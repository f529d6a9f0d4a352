// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { matchCells } from '../../src/diff/cells';
import { cell } from '../support/notebooks';
import { Random } from '../support/random';

/** Cells by their ids and sources, `id:source`; those without an id are `:source`. */
const cells = (...texts: string[]) =>
  texts.map(text => {
    const [id, source] = text.split(':');
    return cell(id, source);
  });

const matched = (before: string[], after: string[]): number[] =>
  matchCells(cells(...before), cells(...after));

describe('matchCells', () => {
  it('goes by ids, whatever the cells say and wherever they are', () => {
    expect(matched(['a:1', 'b:2'], ['b:new', 'a:2', 'c:1'])).toEqual([
      1, 0, -1
    ]);
  });

  it('tells cells with the same id apart by their order', () => {
    expect(matched(['a:1', 'a:2'], ['a:x', 'a:y', 'a:z'])).toEqual([0, 1, -1]);
  });

  it('knows cells without ids by what they say', () => {
    expect(matched([':1', ':2', ':3'], [':2', ':new', ':3', ':1'])).toEqual([
      1, -1, 2, 0
    ]);
  });

  it('keeps equal cells in their order', () => {
    expect(matched([':h', ':A', ':h', ':B'], [':A', ':h', ':B'])).toEqual([
      1, 2, 3
    ]);
  });

  it('knows edited cells without ids by where they stand', () => {
    expect(matched([':1', ':2', ':3'], [':1', ':two', ':more', ':3'])).toEqual([
      0, 1, -1, 2
    ]);
  });

  it('gives no cell the place of one that is still there', () => {
    expect(matched([':1', 'a:2', ':3'], [':one', ':2', 'a:2', ':3'])).toEqual([
      0, -1, 1, 2
    ]);
  });

  it('takes an edited cell of another type for another one', () => {
    const title = cell('', 'one', { cell_type: 'markdown' });
    expect(matchCells(cells(':1'), [title])).toEqual([-1]);
    expect(matchCells(cells(':1'), [title, ...cells(':one')])).toEqual([-1, 0]);
  });

  it('never takes two cells for the same one', () => {
    const random = new Random(5);
    for (let round = 0; round < 500; round++) {
      const some = () =>
        cells(
          ...Array.from(
            { length: random.below(9) },
            () => `${random.pick(['', '', 'a', 'b'])}:${random.pick('xyz')}`
          )
        );
      const [before, after] = [some(), some()];
      const places = matchCells(before, after).filter(place => place >= 0);
      expect(new Set(places).size).toBe(places.length);
      expect(matchCells(before, before)).toEqual([...before.keys()]);
      expect(Math.max(-1, ...places)).toBeLessThan(before.length);
    }
  });
});
