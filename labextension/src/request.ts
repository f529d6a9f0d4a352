// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';

import type { IAgent, ISessionInfo } from './protocol';

export interface IMessagePage {
  /** The number of the session's last message. */
  seq: number;
  messages: { method: string; params: unknown }[];
}

/** The REST side of the server extension. */
export class AcpApi {
  constructor(readonly settings: ServerConnection.ISettings) {}

  async agents(): Promise<IAgent[]> {
    return (await this._fetch<{ agents: IAgent[] }>('agents')).agents;
  }

  async restartAgent(id: string): Promise<void> {
    await this._fetch(`agents/${encodeURIComponent(id)}/restart`, {
      method: 'POST',
      body: '{}'
    });
  }

  async agentLog(id: string): Promise<string[]> {
    const path = `agents/${encodeURIComponent(id)}/log`;
    return (await this._fetch<{ lines: string[] }>(path)).lines;
  }

  async sessions(): Promise<ISessionInfo[]> {
    return (await this._fetch<{ sessions: ISessionInfo[] }>('sessions'))
      .sessions;
  }

  async renameSession(id: string, title: string): Promise<ISessionInfo> {
    return this._fetch(`sessions/${encodeURIComponent(id)}`, {
      method: 'PATCH',
      body: JSON.stringify({ title })
    });
  }

  /** A page of a session's messages, the oldest first. */
  async messages(id: string, after: number): Promise<IMessagePage> {
    return this._fetch(
      `sessions/${encodeURIComponent(id)}/messages?limit=1000&after=${after}`
    );
  }

  async deleteSession(id: string): Promise<void> {
    await this._fetch(`sessions/${encodeURIComponent(id)}`, {
      method: 'DELETE'
    });
  }

  /** Paths below the server's folder that contain some letters. */
  async files(query: string, limit: number): Promise<string[]> {
    const search = new URLSearchParams({ query, limit: String(limit) });
    return (await this._fetch<{ files: string[] }>(`files?${search}`)).files;
  }

  private async _fetch<T>(path: string, init: RequestInit = {}): Promise<T> {
    const url = URLExt.join(this.settings.baseUrl, 'acp', path);
    let response: Response;
    try {
      response = await ServerConnection.makeRequest(url, init, this.settings);
    } catch (error) {
      throw new ServerConnection.NetworkError(error as TypeError);
    }
    const text = await response.text();
    let data: unknown = undefined;
    try {
      data = text ? JSON.parse(text) : undefined;
    } catch {
      // A proxy's error page is not JSON: the status line has to do.
    }
    if (!response.ok) {
      const message = (data as { message?: string } | undefined)?.message;
      throw new ServerConnection.ResponseError(
        response,
        message ?? `${response.status} ${response.statusText}`
      );
    }
    return data as T;
  }
}
