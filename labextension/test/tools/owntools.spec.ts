// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { type IPermission, decodeQuestion } from '../../src/decode/questions';
import { ignore } from '../../src/decode/shapes';
import { Method } from '../../src/protocol';
import { callWords, ownTool, permissionWords } from '../../src/tools/owntools';
import { english } from '../support/helpers';

describe('our own tools', () => {
  it.each([
    ['mcp__jupyter__edit_cell', 'edit_cell'],
    ['mcp__jupyter-acp__run_cells', 'run_cells'],
    ['mcp.jupyter.run_cell', 'run_cell'],
    ['jupyter_run_cell', 'run_cell'],
    ['jupyter_acp_run_cell', 'run_cell'],
    ['Tool: jupyter/run_code', 'run_code'],
    ['run_cell (jupyter MCP Server)', 'run_cell'],
    ['read_variables', 'read_variables']
  ])('are known by the names that agents give them: %s', (name, tool) => {
    expect(ownTool(name)).toBe(tool);
  });

  it.each([
    '',
    'Edit cell',
    'mcp__other__edit_cell',
    'mcp__jupyter__drop_tables',
    'Run mcp__jupyter__run_cell for me',
    'mcp__jupyter__run_cell and rm -rf',
    `jupyter${'_'.repeat(50_000)}run_cell`
  ])('are not whatever contains one: %s', name => {
    expect(ownTool(name)).toBeNull();
  });

  it('have words', () => {
    const words = (title: string, toolName?: string) =>
      callWords({ title, toolName }, english);
    expect(words('mcp__jupyter__edit_cell')).toBe('Edit cell');
    expect(words('Fix the plot')).toBe('Fix the plot');
    expect(words('{"cell_id":"a"}', 'mcp__jupyter__run_cell')).toBe('Run cell');
    expect(words('{}', 'WebFetch')).toBe('WebFetch');
    expect(words('{"cell_id":"a')).toBe('');
    expect(words('[draft] notes')).toBe('[draft] notes');
  });

  it('have them in a question only where the server is certain of them', () => {
    const asked = (params: unknown) =>
      permissionWords(
        decodeQuestion(Method.requestPermission, params, ignore) as IPermission,
        english
      );
    const words = (toolCall?: object, tool?: string) =>
      asked({
        toolCall: toolCall && { toolCallId: 't', ...toolCall },
        _meta: { 'jupyter-acp': { tool } }
      });
    const uncertain = 'Use the tool run_code of “jupyter”';
    for (const [title, otherwise] of [
      ['run_code', 'run_code'],
      ['jupyter_run_code', uncertain],
      ['mcp__jupyter__run_code', uncertain],
      ['mcp.jupyter.run_code', uncertain],
      ['Tool: jupyter/run_code', uncertain],
      ['run_code (jupyter MCP Server)', uncertain]
    ]) {
      expect(words({ title })).toBe(otherwise);
      expect(words({ title }, 'run_code')).toBe('Run code');
    }
    expect(words({ title: 'mcp__a__b\nand more' })).toBe('mcp__a__b\nand more');
    const _meta = { claudeCode: { toolName: 'mcp__jupyter__delete_cell' } };
    expect(words({ title: '{}', _meta })).toBe(
      'Use the tool delete_cell of “jupyter”'
    );
    expect(words({ title: '{}', _meta }, 'delete_cell')).toBe('Delete cell');
    expect(words()).toBe('');
    expect(asked(undefined)).toBe('');
  });
});
