// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { TranslationBundle } from '@jupyterlab/translation';

import type { IGitRemoteRef } from '../protocol';

/** What people call a repository, by its address. */
export function repositoryOf(url: string): string {
  const [, name = ''] = /([^/:]+?)(?:\.git)?\/*$/.exec(url) ?? [];
  return name || url;
}

export function remoteWords(
  remote: IGitRemoteRef,
  trans: TranslationBundle
): string {
  return trans.__('Remote session on %1', remote.branch);
}
