// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { toldServer } from '../../src/agents/mcpsettings';

describe('MCP servers of the settings', () => {
  it('are told as an administrator would write them', () => {
    expect(
      toldServer({
        name: 'issues',
        command: 'issues-mcp',
        env: [{ name: 'A', value: '${B}' }, { name: 'EMPTY' }]
      })
    ).toEqual({
      name: 'issues',
      command: 'issues-mcp',
      env: { A: '${B}', EMPTY: '' }
    });
    expect(
      toldServer({ name: 'web', headers: [{ name: 'X', value: 'y' }] })
    ).toEqual({ name: 'web', headers: { X: 'y' } });
  });
});
