// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { execFileSync } from 'node:child_process';
import { dirname, resolve } from 'node:path';

import { defineConfig } from '@playwright/test';

const python =
  process.env.PYTHON ?? resolve(__dirname, '../../.venv/bin/python');
/** The same with real-time collaboration, which changes JupyterLab a lot. */
const together = resolve(dirname(python), '../collaboration/bin/python');
/** The oldest JupyterLab, Notebook and Jupyter Server that the extension promises to work with. */
const oldest = resolve(dirname(python), '../lowest/bin/python');
const token = 'browser-tests';

// Workers read this file too and must find the ports that were chosen first.
process.env.ACP_TEST_PORTS ??= execFileSync(python, [
  '-c',
  'import socket; s = [socket.socket() for _ in range(5)]; [x.bind(("127.0.0.1", 0)) for x in s]; print(*(x.getsockname()[1] for x in s))'
])
  .toString()
  .trim();
const [portTogether, portNotebook, portBinder, portOldest, ...ports] =
  process.env.ACP_TEST_PORTS.split(' ');
/** Each worker has a server of its own: tests may crash its agents. */
const own = ports[Number(process.env.TEST_PARALLEL_INDEX ?? 0)];

const base = (port: string): string => `http://127.0.0.1:${port}`;

/** Which projects are to run, if not all: a part of the tests starts only the servers it needs. */
const wanted = process.env.ACP_TEST_PROJECTS?.split(' ');
const isWanted = (project: string): boolean =>
  wanted === undefined || wanted.includes(project);

const server = (
  python: string,
  port: string,
  application = 'jupyterlab',
  script = 'server.py'
) => ({
  command: `${python} ${script} ${port} ${token} ${application}`,
  url: `${base(port)}/api`,
  // One that builds its environment first takes longer.
  timeout: script === 'server.py' ? 90_000 : 600_000,
  reuseExistingServer: false,
  gracefulShutdown: { signal: 'SIGTERM' as const, timeout: 15_000 },
  stdout: 'ignore' as const,
  stderr: 'ignore' as const
});

export default defineConfig({
  testDir: '.',
  forbidOnly: true,
  workers: ports.length,
  // Long, since a test says nothing about how fast a machine is.
  timeout: 120_000,
  expect: { timeout: 30_000 },
  reporter: [['list'], ['junit']],
  use: {
    extraHTTPHeaders: { Authorization: `token ${token}` },
    viewport: { width: 1280, height: 860 },
    screenshot: 'only-on-failure',
    launchOptions: {
      executablePath: process.env.CHROMIUM || undefined,
      args: ['--no-sandbox']
    }
  },
  projects: [
    {
      name: 'lab',
      testMatch: '*.spec.ts',
      testIgnore: ['notebook7.spec.ts', 'binder.spec.ts'],
      use: { baseURL: base(own) }
    },
    {
      name: 'collaboration',
      testMatch: 'workspace.spec.ts',
      use: { baseURL: base(portTogether) }
    },
    {
      name: 'notebook',
      testMatch: 'notebook7.spec.ts',
      use: { baseURL: base(portNotebook) }
    },
    {
      name: 'lowest',
      testMatch: ['versions.spec.ts', 'showing.spec.ts', 'notebook7.spec.ts'],
      use: { baseURL: base(portOldest) }
    },
    {
      name: 'binder',
      testMatch: 'binder.spec.ts',
      use: { baseURL: base(portBinder) }
    }
  ].filter(({ name }) => isWanted(name)),
  webServer: [
    ...(isWanted('lab') ? ports.map(port => server(python, port)) : []),
    ...(isWanted('collaboration') ? [server(together, portTogether)] : []),
    ...(isWanted('notebook') ? [server(python, portNotebook, 'notebook')] : []),
    ...(isWanted('lowest') ? [server(oldest, portOldest)] : []),
    ...(isWanted('binder')
      ? [server(python, portBinder, 'jupyterlab', 'binder.py')]
      : [])
  ]
});
