// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';

import type { IAgent, IMatch, ISessionInfo } from '../protocol';

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

  /** The sessions in which some words are said, with the places. */
  async search(query: string): Promise<{ id: string; matches: IMatch[] }[]> {
    const search = new URLSearchParams({ query });
    return (
      await this._fetch<{ sessions: { id: string; matches: IMatch[] }[] }>(
        `search?${search}`
      )
    ).sessions;
  }

  /** Sessions that agents have and the server has not. */
  async elsewhere(): Promise<ISessionInfo[]> {
    return (await this._fetch<{ sessions: ISessionInfo[] }>('elsewhere'))
      .sessions;
  }

  /** A session as JSON lines. */
  async exportSession(id: string): Promise<string> {
    const response = await this._request(
      `sessions/${encodeURIComponent(id)}/export`
    );
    return response.text();
  }

  async importSession(lines: string): Promise<ISessionInfo> {
    return this._fetch('import', { method: 'POST', body: lines });
  }

  /** Paths below the server's folder that contain some letters. */
  async files(query: string, limit: number): Promise<string[]> {
    const search = new URLSearchParams({ query, limit: String(limit) });
    return (await this._fetch<{ files: string[] }>(`files?${search}`)).files;
  }

  private async _fetch<T>(path: string, init: RequestInit = {}): Promise<T> {
    const text = await (await this._request(path, init)).text();
    return (text ? JSON.parse(text) : undefined) as T;
  }

  private async _request(
    path: string,
    init: RequestInit = {}
  ): Promise<Response> {
    const url = URLExt.join(this.settings.baseUrl, 'acp', path);
    let response: Response;
    try {
      response = await ServerConnection.makeRequest(url, init, this.settings);
    } catch (error) {
      throw new ServerConnection.NetworkError(error as TypeError);
    }
    if (!response.ok) {
      throw new ServerConnection.ResponseError(
        response,
        await messageOf(response)
      );
    }
    return response;
  }
}

async function messageOf(response: Response): Promise<string> {
  try {
    const { message } = (await response.json()) as { message?: string };
    if (message) {
      return message;
    }
  } catch {
    // A proxy's error page is not JSON: the status line has to do.
  }
  return `${response.status} ${response.statusText}`;
}
