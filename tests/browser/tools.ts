// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { spawn } from 'node:child_process';
import { resolve } from 'node:path';

import { expect } from '@playwright/test';

import type { AgentPage } from './agent';
import { code } from './documents';

interface IAnswer {
  text: string;
  isError: boolean;
}

type Call = [name: string, args: object];

/** The tools that the agent was given, called by a stock MCP client. */
export class Tools {
  static async of(agent: AgentPage): Promise<Tools> {
    const [server] = await agent.tell<{ command: string }[]>('mcp');
    return new Tools(server);
  }

  constructor(private readonly _server: { command: string }) {}

  async call(...calls: Call[]): Promise<IAnswer[]> {
    const client = spawn(
      this._server.command,
      [resolve(__dirname, 'mcp_call.py')],
      { stdio: ['pipe', 'pipe', 'inherit'] }
    );
    client.stdin.end(JSON.stringify({ server: this._server, calls }));
    let told = '';
    client.stdout.on('data', data => (told += String(data)));
    await new Promise(done => client.on('close', done));
    return JSON.parse(told) as IAnswer[];
  }

  async text(name: string, args: object = {}): Promise<string> {
    const [{ text, isError }] = await this.call([name, args]);
    expect(isError, text).toBe(false);
    return text;
  }
}

export function notebook(kernel: string, ...sources: string[]): object {
  return {
    nbformat: 4,
    nbformat_minor: 5,
    metadata: { kernelspec: { name: kernel, display_name: kernel } },
    cells: sources.map((source, index) => code(`cell-${index}`, source))
  };
}
