// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { TranslationBundle } from '@jupyterlab/translation';

import type { ISessionInfo } from '../protocol';
import { repositoryOf } from '../remote/words';
import type { SessionStatus } from './list';

export function titleOf(
  session: ISessionInfo | undefined,
  trans: TranslationBundle
): string {
  return session?.title || trans.__('New session');
}

export function statusWords(
  status: SessionStatus,
  trans: TranslationBundle
): string {
  switch (status) {
    case 'waiting':
      return trans.__('Waiting for you');
    case 'running':
      return trans.__('Running');
    case 'failed':
      return trans.__('Failed');
    case 'done':
      return trans.__('Done');
    case 'closed':
      return trans.__('Closed');
    case 'ready':
      return trans.__('Ready');
  }
}

/** A session's folder as the file browser names it. */
export function folderOf(cwd = '', root = ''): string {
  const base = root.replace(/\/+$/, '');
  if (cwd.startsWith(`${base}/`) && cwd.length > base.length + 1) {
    return cwd.slice(base.length + 1);
  }
  return cwd.replace(/\/+$/, '') === base
    ? base.slice(base.lastIndexOf('/') + 1) || '/'
    : cwd;
}

/** Where a session works: the name of its repository, or its folder. */
export function placeOf({ remote, cwd }: ISessionInfo, root?: string): string {
  return remote ? repositoryOf(remote.url) : folderOf(cwd, root);
}
