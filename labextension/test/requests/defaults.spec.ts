// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import schema from '../../schema/permissions.json';
import { defaultsOf } from '../../src/requests/defaults';

describe('what is asked where no rule fits', () => {
  const { everything, reading, editing, running, restarting } =
    schema.properties;
  const usual = {
    everything: everything.default,
    reading: reading.default,
    editing: editing.default,
    running: running.default,
    restarting: restarting.default
  };

  it('is running and restarting', () => {
    expect(defaultsOf(usual)).toEqual({
      read: 'allow',
      write: 'allow',
      run: 'ask',
      restart: 'ask'
    });
  });

  it('is the choice of the user, for each', () => {
    const chosen = { reading: 'ask', running: 'allow', restarting: 'allow' };
    expect(defaultsOf({ ...usual, ...chosen })).toEqual({
      read: 'ask',
      write: 'allow',
      run: 'allow',
      restart: 'allow'
    });
  });

  it('is everything, whatever is chosen for each', () => {
    const chosen = { everything: true, running: 'allow', reading: 'allow' };
    expect(defaultsOf({ ...usual, ...chosen })).toEqual({
      read: 'ask',
      write: 'ask',
      run: 'ask',
      restart: 'ask'
    });
  });
});
