// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { ISignal } from '@lumino/signaling';

import type { IAcpConnection } from '../api/connection';
import type { INamedChange } from '../changes/changes';
import { RpcError } from '../connection/rpc';
import {
  type IRemoteFile,
  type IRemoteProgress,
  type IRemoteReview,
  type IRemoteText,
  Method,
  type ResultAction
} from '../protocol';
import { type GitProgress, resultToken } from './progress';

/** A file of a result: what became of it, or why that cannot be shown. */
export interface IResultFile {
  readonly change: INamedChange | null;
  readonly reason: string;
}

/** What was refused, and which files are in the way. */
export interface IRefused {
  readonly message: string;
  readonly files: readonly string[];
}

/**
 * The results of one session. What is in them never changes and is asked for
 * once; what becomes of them is told in the transcript.
 */
export class Results {
  constructor(
    private readonly _connection: IAcpConnection,
    private readonly _progress: GitProgress,
    private readonly _sessionId: string
  ) {}

  /** Emitted when the progress of a fetch may have changed. */
  get progressChanged(): ISignal<GitProgress, void> {
    return this._progress.changed;
  }

  /** The progress of a fetch, if it is known. */
  progress(number: number): IRemoteProgress | undefined {
    return this._progress.get(resultToken(this._sessionId, number));
  }

  async fetch(number: number): Promise<void> {
    await this._request(Method.remoteFetch, { number });
  }

  /** Stop fetching. */
  async stop(number: number): Promise<void> {
    await this._request(Method.remoteStop, { number });
  }

  async act(
    number: number,
    action: ResultAction,
    branch?: string
  ): Promise<void> {
    await this._request(Method.remoteAct, { number, action, branch });
  }

  review(number: number): Promise<IRemoteReview> {
    return this._once(`${number}`, () =>
      this._request(Method.remoteReview, { number })
    );
  }

  file(number: number, file: IRemoteFile): Promise<IResultFile> {
    const { path, oldPath } = file;
    return this._once(`${number}/${path}`, async () => {
      const { before, after } = await this._request<{
        before: IRemoteText;
        after: IRemoteText;
      }>(Method.remoteFile, {
        number,
        path,
        ...(oldPath ? { oldPath } : {})
      });
      const reason = [...new Set([before, after].map(reasonOf))]
        .filter(Boolean)
        .join(' ');
      return {
        reason,
        change: reason
          ? null
          : {
              key: `result-${number}-${path}`,
              path,
              oldText: before.text,
              newText: after.text ?? ''
            }
      };
    });
  }

  /** The change of a file by its key; null if it is not one of a result. */
  async change(key: string): Promise<INamedChange | null> {
    const [, number, path] = /^result-(\d+)-(.*)$/s.exec(key) ?? [];
    if (path === undefined) {
      return null;
    }
    const { files } = await this.review(Number(number));
    const file = files.files.find(each => each.path === path);
    return file ? (await this.file(Number(number), file)).change : null;
  }

  private _request<T>(method: string, params: object): Promise<T> {
    return this._connection.request<T>(method, {
      sessionId: this._sessionId,
      ...params
    });
  }

  /** What could not be loaded is asked for again by whoever wants it again. */
  private _once<T>(key: string, load: () => Promise<T>): Promise<T> {
    const known = this._loaded.get(key) as Promise<T> | undefined;
    if (known) {
      return known;
    }
    const loading = load();
    this._loaded.set(key, loading);
    loading.catch(() => this._loaded.delete(key));
    return loading;
  }

  private readonly _loaded = new Map<string, Promise<unknown>>();
}

/** Why a text is not shown; that there is no file is part of what is shown. */
function reasonOf({ text, reason, message }: IRemoteText): string {
  return text !== null || !reason || reason === 'missing'
    ? ''
    : message || reason;
}

export function refusedBy(error: unknown): IRefused {
  const { message } = error as Error;
  const data = error instanceof RpcError ? error.data : null;
  const files = (data as { files?: unknown } | null | undefined)?.files;
  return {
    message,
    files: Array.isArray(files)
      ? files.filter((each): each is string => typeof each === 'string')
      : []
  };
}
