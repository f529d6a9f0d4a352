// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { AddressInfo } from 'net';
import type { ServerConnection } from '@jupyterlab/services';
import { WebSocket, WebSocketServer } from 'ws';

import { AcpConnection } from '../../src/connection/connection';
import { Method } from '../../src/protocol';
import { SESSION, until } from './helpers';

interface IMessage {
  id?: string | number;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
  error?: { code: number; message: string };
}

type Answer = (params: Record<string, unknown>) => unknown;

/** A real websocket server that keeps one session and can drop its windows. */
export class FakeServer {
  static async start(): Promise<FakeServer> {
    const server = new FakeServer();
    await new Promise(resolve => server._server.once('listening', resolve));
    return server;
  }

  /** Everything that windows sent, oldest first. */
  readonly received: IMessage[] = [];

  /** How requests are answered; a thrown error becomes an error answer. */
  readonly answers: Record<string, Answer> = {
    [Method.initialize]: () => ({
      protocolVersion: 1,
      _meta: {
        'jupyter-acp': {
          connectionId: `c${++this.connections}`,
          run: this.run,
          rootDir: '/root'
        }
      }
    })
  };

  connections = 0;
  run = 'first';
  readonly log: string[] = [];
  readonly upgrades: { url: string; protocol: string }[] = [];

  get settings(): ServerConnection.ISettings {
    const { port } = this._server.address() as AddressInfo;
    return {
      baseUrl: `http://127.0.0.1:${port}/base/`,
      wsUrl: `ws://127.0.0.1:${port}/base/`,
      token: 'se cret',
      appendToken: true,
      WebSocket: WebSocket as unknown as typeof globalThis.WebSocket
    } as ServerConnection.ISettings;
  }

  /** A window's connection, not opened yet. */
  connection(): AcpConnection {
    const connection = new AcpConnection({
      settings: this.settings,
      clientInfo: { name: 'test', title: 'Test', version: '0' },
      lostMessage: 'no connection',
      firstDelay: 10
    });
    this._windows.push(connection);
    return connection;
  }

  connect(): AcpConnection {
    const connection = this.connection();
    connection.connect();
    return connection;
  }

  requests(method: string): IMessage[] {
    return this.received.filter(message => message.method === method);
  }

  /** Send messages to every window, all in one frame. */
  send(...messages: object[]): void {
    const frame = messages
      .map(message => JSON.stringify({ jsonrpc: '2.0', ...message }))
      .join('\n');
    for (const socket of this._server.clients) {
      socket.send(frame);
    }
  }

  /** Append to the session's log, and send it if anybody listens. */
  publish(
    method: string,
    params: Record<string, unknown>,
    meta: Record<string, unknown> = {}
  ): void {
    const message = {
      method,
      params: {
        sessionId: SESSION,
        ...params,
        _meta: { 'jupyter-acp': { seq: this.log.length + 1, ...meta } }
      }
    };
    this.log.push(JSON.stringify({ jsonrpc: '2.0', ...message }));
    this.send(message);
  }

  text(sessionUpdate: string, text: string, meta = {}): void {
    this.publish(
      Method.sessionUpdate,
      { update: { sessionUpdate, content: { type: 'text', text } } },
      meta
    );
  }

  /** Answer attach as our server does: the answer, then what was missed. */
  serveAttach(extra: () => object = () => ({})): void {
    this.answers[Method.attach] = ({ after }) => {
      setImmediate(() => {
        const missed = this.log.slice(after as number);
        if (missed.length) {
          for (const socket of this._server.clients) {
            socket.send(missed.join('\n'));
          }
        }
      });
      return {
        seq: this.log.length,
        state: 'idle',
        pending: [],
        ...extra()
      };
    };
  }

  drop(): void {
    for (const socket of this._server.clients) {
      socket.terminate();
    }
  }

  async waitFor(method: string, count = 1): Promise<IMessage> {
    await until(() => this.requests(method).length >= count, method);
    return this.requests(method)[count - 1];
  }

  async stop(): Promise<void> {
    for (const window of this._windows) {
      window.dispose();
    }
    this.drop();
    await new Promise(resolve => this._server.close(resolve));
  }

  private constructor() {
    this._server.on('connection', (socket, request) => {
      this.upgrades.push({
        url: request.url ?? '',
        protocol: request.headers['sec-websocket-protocol'] ?? ''
      });
      socket.on('message', data =>
        this._onMessage(socket, (data as Buffer).toString())
      );
    });
  }

  private _onMessage(socket: WebSocket, text: string): void {
    const message = JSON.parse(text) as IMessage;
    this.received.push(message);
    const answer = this.answers[message.method ?? ''];
    if (message.id === undefined || !answer) {
      return;
    }
    const reply = (part: object) =>
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...part }));
    try {
      const result = answer(message.params ?? {});
      reply({ result });
    } catch (error) {
      const { code = -32603, message: words } = error as {
        code?: number;
        message: string;
      };
      reply({ error: { code, message: words } });
    }
  }

  private readonly _windows: AcpConnection[] = [];
  private readonly _server = new WebSocketServer({ port: 0 });
}
