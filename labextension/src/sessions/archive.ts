// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IAcpConnection } from '../api/connection';
import type { AcpApi } from '../connection/rest';
import {
  type IMatch,
  type INewSessionResult,
  type ISessionInfo,
  Method,
  ourMeta
} from '../protocol';
import type { Transcript } from '../transcript/transcript';
import type { SessionList } from './list';

/** What can be done with the sessions of the server without following them. */
export class Archive {
  constructor(private readonly _options: Archive.IOptions) {}

  async rename(id: string, title: string): Promise<void> {
    const { api, list } = this._options;
    list.take(await api.renameSession(id, title));
  }

  /** End a session with its agent; its transcript stays, and a message reopens it. */
  async end(id: string): Promise<void> {
    await this._request(Method.sessionClose, { sessionId: id });
  }

  async remove(id: string): Promise<void> {
    const { api, list } = this._options;
    await api.deleteSession(id);
    list.drop(id);
  }

  /** Replace a transcript by the history from its agent. */
  async reload(id: string): Promise<void> {
    await this._request(Method.reload, { sessionId: id });
  }

  /** Sessions that running agents have, and this server has not. */
  elsewhere(): Promise<ISessionInfo[]> {
    return this._options.api.elsewhere();
  }

  /** Take over a session that only its agent has. */
  async takeOver({ id, cwd }: ISessionInfo): Promise<void> {
    const result = await this._request<INewSessionResult>(Method.sessionLoad, {
      sessionId: id,
      cwd,
      mcpServers: []
    });
    const { session } = ourMeta<{ session: ISessionInfo }>(result);
    if (session) {
      this._options.list.take(session);
    }
  }

  /** The places in transcripts that contain some words, by session. */
  async search(words: string): Promise<Map<string, readonly IMatch[]>> {
    const found = await this._options.api.search(words);
    return new Map(found.map(({ id, matches }) => [id, matches]));
  }

  /** A session as JSON lines. */
  export(id: string): Promise<string> {
    return this._options.api.exportSession(id);
  }

  /** Add an exported session as a new one. */
  async import(lines: string): Promise<ISessionInfo> {
    const { api, list } = this._options;
    const session = await api.importSession(lines);
    list.take(session);
    return session;
  }

  /** Read the transcript of a session as it is now. */
  async transcript(id: string): Promise<Transcript> {
    const { Transcript } = await import('../transcript/transcript');
    const transcript = new Transcript();
    for (;;) {
      const page = await this._options.api.messages(id, transcript.seq);
      for (const { method, params } of page.messages) {
        transcript.receive(method, params);
      }
      if (!page.messages.length || transcript.seq >= page.seq) {
        return transcript;
      }
    }
  }

  private _request<T>(method: string, params: object): Promise<T> {
    return this._options.connection.request<T>(method, params);
  }
}

export namespace Archive {
  export interface IOptions {
    connection: IAcpConnection;
    api: AcpApi;
    list: SessionList;
  }
}
