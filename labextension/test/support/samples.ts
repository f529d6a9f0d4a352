// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Method } from '../../src/protocol';

interface ISample {
  readonly method: string;
  readonly params: Record<string, unknown>;
}

const update = (
  sessionUpdate: string,
  fields: Record<string, unknown>
): ISample => ({
  method: Method.sessionUpdate,
  params: { update: { sessionUpdate, ...fields } }
});

const text = { type: 'text', text: 'Some **words**.' };
const diff = { type: 'diff', path: '/w/a.py', oldText: 'a\n', newText: 'b\n' };

const call = {
  toolCallId: 't',
  title: 'Run',
  kind: 'execute',
  status: 'pending',
  rawInput: { command: 'ls', env: [{ name: 'A', value: 'b' }] },
  locations: [{ path: '/w/a.py', line: 3 }],
  content: [
    { type: 'content', content: text },
    diff,
    { type: 'terminal', terminalId: 'x' }
  ]
};

/** One message of each kind. */
export const MESSAGES: readonly ISample[] = [
  update('user_message_chunk', { content: text, messageId: 'm' }),
  update('agent_message_chunk', { content: text }),
  update('agent_message_chunk', {
    content: { type: 'image', mimeType: 'image/png', data: 'AAAA' }
  }),
  update('agent_message_chunk', {
    content: { type: 'resource', resource: { uri: 'file:///a', text: 'a' } }
  }),
  update('agent_message_chunk', {
    content: { type: 'resource_link', uri: 'file:///a', name: 'a' }
  }),
  update('agent_thought_chunk', { content: text }),
  update('tool_call', call),
  update('tool_call_update', {
    toolCallId: 't',
    status: 'completed',
    rawOutput: { exit: 0 },
    _meta: {
      toolName: 'Bash',
      terminal_output: { terminal_id: 'x', data: 'out' },
      terminal_exit: { terminal_id: 'x', exit_code: 1, signal: null }
    }
  }),
  update('plan', {
    entries: [{ content: 'a', priority: 'high', status: 'completed' }]
  }),
  update('notice', { severity: 'warning', title: 'a', description: 'b' }),
  update('usage_update', {
    used: 1,
    size: 2,
    cost: { amount: 0.1, currency: 'USD' }
  }),
  update('compaction_update', {
    compactionId: 'c',
    status: 'completed',
    summary: [text]
  }),
  update('compaction_summary_chunk', { compactionId: 'c', content: text }),
  update('available_commands_update', {
    availableCommands: [{ name: 'a', description: 'b', input: { hint: 'c' } }]
  }),
  update('current_mode_update', { currentModeId: 'a' }),
  update('config_option_update', {
    configOptions: [
      {
        id: 'o',
        name: 'O',
        type: 'select',
        currentValue: 'x',
        options: [{ value: 'x', name: 'X' }]
      }
    ]
  }),
  update('session_info_update', { title: 'a' }),
  { method: Method.promptContext, params: { text: 'a' } },
  { method: Method.state, params: { state: 'running', time: '2026-01-01' } },
  {
    method: Method.state,
    params: {
      state: 'idle',
      stopReason: 'refusal',
      error: { message: 'a', stderr: ['b'] }
    }
  },
  { method: Method.restored, params: { how: 'new', message: 'a' } },
  { method: Method.notice, params: { level: 'info', message: 'a' } },
  { method: Method.modelChanged, params: { modelId: 'a' } },
  {
    method: Method.servers,
    params: { servers: [{ name: 'a', type: 'stdio', state: 'on' }] }
  },
  { method: Method.terminalCreated, params: { terminalId: 'x', name: '1' } },
  { method: Method.terminalOutput, params: { terminalId: 'x', data: 'a' } },
  {
    method: Method.terminalExit,
    params: { terminalId: 'x', exitStatus: { exitCode: 1 } }
  },
  {
    method: Method.permissionResolved,
    params: {
      requestId: '1',
      request: {
        method: Method.requestPermission,
        params: {
          toolCall: call,
          options: [{ optionId: 'y', name: 'Yes', kind: 'allow_once' }]
        }
      },
      outcome: { outcome: 'selected', optionId: 'y' }
    }
  },
  {
    method: Method.permissionDecided,
    params: { by: 'admin', decision: 'deny', subject: 'rm' }
  },
  {
    method: Method.remoteResult,
    params: {
      number: 1,
      target: { type: 'git', url: 'https://a/b', branch: 'c', revision: 'd' },
      state: 'ready',
      message: null
    }
  },
  {
    method: Method.fileChanged,
    params: { path: '/w/a.py', oldText: null, newText: 'a' }
  },
  {
    method: Method.changeDecided,
    params: { change: 't:1', parts: ['0'], decision: 'undo' }
  },
  {
    method: Method.toolRecord,
    params: {
      id: 'r',
      toolCallId: null,
      name: 'run_cells',
      arguments: { cell_ids: ['a'] },
      title: 'Run',
      status: 'completed',
      path: '/w/a.ipynb',
      result: {
        language: 'python',
        cells: [
          {
            source: 'x',
            cell: { id: 'a', index: 0 },
            status: 'ok',
            note: '',
            executionCount: 1,
            outputs: [
              { output_type: 'stream', name: 'stdout', text: ['a', 'b'] },
              {
                output_type: 'display_data',
                data: { 'text/plain': 'a', 'application/json': {} },
                metadata: {}
              },
              {
                output_type: 'error',
                ename: 'a',
                evalue: 'b',
                traceback: ['c']
              }
            ]
          }
        ]
      }
    }
  }
];

/** Questions of agents. */
export const QUESTIONS: readonly ISample[] = [
  {
    method: Method.requestPermission,
    params: {
      toolCall: call,
      options: [{ optionId: 'y', name: 'Yes', kind: 'allow_once' }],
      _meta: {
        'jupyter-acp': {
          tool: 'run_cell',
          title: 'Run cell 1',
          content: [diff],
          rule: { kind: 'run', match: '*' },
          files: [{ path: '/w/a', risk: 'git' }]
        }
      }
    }
  },
  {
    method: Method.elicit,
    params: {
      mode: 'form',
      message: 'a',
      requestedSchema: {
        properties: {
          a: { type: 'string', enum: ['a'], default: 'a' },
          b: { type: 'array', items: { anyOf: [{ const: 'x' }] } }
        },
        required: ['a']
      }
    }
  }
];

/** What an agent offers when a session begins. */
export const SETUP = {
  modes: {
    currentModeId: 'a',
    availableModes: [{ id: 'a', name: 'A', description: null }]
  },
  models: {
    currentModelId: 'm',
    availableModels: [{ modelId: 'm', name: 'M' }]
  },
  configOptions: [{ id: 'b', name: 'B', type: 'boolean', currentValue: true }],
  availableCommands: [{ name: 'a' }],
  promptCapabilities: { image: true }
};
