// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

// The rooms of `src/`, and which others each may import, types included: the
// table in docs/architecture.md. (The rules of eslint pass over type imports.)
const ROOMS = {
  protocol: [],
  api: ['protocol'],
  decode: ['protocol'],
  diff: [],
  connection: ['api', 'protocol'],
  ui: ['api', 'protocol'],
  documents: ['api', 'connection', 'diff', 'protocol'],
  workspace: ['api', 'connection', 'protocol', 'ui'],
  changes: ['api', 'diff', 'protocol', 'ui'],
  tools: ['api', 'changes', 'decode', 'diff', 'protocol', 'ui'],
  requests: ['api', 'decode', 'protocol', 'tools', 'ui'],
  prompt: ['api', 'protocol', 'ui'],
  agents: ['api', 'connection', 'protocol', 'ui'],
  remote: ['agents', 'api', 'changes', 'connection', 'protocol', 'ui'],
  transcript: [
    'changes',
    'decode',
    'diff',
    'prompt',
    'protocol',
    'remote',
    'requests',
    'tools',
    'ui'
  ],
  sessions: [
    'agents',
    'api',
    'changes',
    'connection',
    'decode',
    'prompt',
    'protocol',
    'remote',
    'requests',
    'tools',
    'transcript',
    'ui'
  ],
  panel: [
    'agents',
    'api',
    'prompt',
    'protocol',
    'remote',
    'requests',
    'sessions',
    'ui'
  ]
};

/** Matches the files of some rooms; two of them are single files. */
const filesOf = rooms => `^src/(${rooms.join('|')})(/|\\.ts$)`;

module.exports = {
  forbidden: [
    {
      name: 'no-cycle',
      comment: 'Split one of the modules, or turn one of the imports around.',
      severity: 'error',
      from: {},
      to: { circular: true }
    },
    {
      name: 'every-room-in-the-table',
      comment: 'Add the room to this file and to docs/architecture.md.',
      severity: 'error',
      from: {},
      to: {
        path: '^src/',
        pathNot: filesOf([...Object.keys(ROOMS), 'plugins', 'index'])
      }
    },
    ...Object.entries(ROOMS).map(([room, others]) => ({
      name: `${room}-imports`,
      comment: `${room} may import ${others.join(', ') || 'nothing'}.`,
      severity: 'error',
      from: { path: filesOf([room]) },
      to: { path: '^src/', pathNot: filesOf([room, ...others]) }
    }))
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' }
  }
};
