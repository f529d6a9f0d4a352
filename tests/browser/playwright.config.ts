// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';

import { defineConfig } from '@playwright/test';

const python =
  process.env.PYTHON ?? resolve(__dirname, '../../.venv/bin/python');
const token = 'browser-tests';

// Workers read this file too and must find the port that was chosen first.
process.env.ACP_TEST_PORT ??= execFileSync(python, [
  '-c',
  'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
])
  .toString()
  .trim();
const port = process.env.ACP_TEST_PORT;
const base = `http://127.0.0.1:${port}`;

export default defineConfig({
  testDir: '.',
  testMatch: '*.spec.ts',
  forbidOnly: true,
  // One server and its one built-in agent serve every test, which may crash it.
  workers: 1,
  timeout: 60_000,
  expect: { timeout: 15_000 },
  reporter: [['list'], ['junit']],
  use: {
    baseURL: base,
    extraHTTPHeaders: { Authorization: `token ${token}` },
    viewport: { width: 1280, height: 860 },
    screenshot: 'only-on-failure',
    launchOptions: {
      executablePath: process.env.CHROMIUM || undefined,
      args: ['--no-sandbox']
    }
  },
  webServer: {
    command: `${python} server.py ${port} ${token}`,
    url: `${base}/api`,
    timeout: 90_000,
    reuseExistingServer: false,
    gracefulShutdown: { signal: 'SIGTERM', timeout: 15_000 },
    stdout: 'ignore',
    stderr: 'ignore'
  }
});
