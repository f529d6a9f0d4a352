// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import type { IRecentsManager } from '@jupyterlab/docmanager';
import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { Contents } from '@jupyterlab/services';

import type { IRecentDocument } from '../protocol';
import { fileLanguage } from './language';

/**
 * The documents that were opened or closed lately, newest first.
 *
 * @param notebooks - The languages of notebooks that were seen open; those of
 *   others are in files that nobody has read.
 */
export function recentDocuments(
  recents: Pick<IRecentsManager, 'recentlyOpened' | 'recentlyClosed'>,
  { contents, languages, registry }: IRecentsOptions,
  notebooks: ReadonlyMap<string, string>
): IRecentDocument[] {
  const found = new Map<string, IRecentDocument>();
  // There are no times to merge by: what was opened counts for more.
  for (const recent of [...recents.recentlyOpened, ...recents.recentlyClosed]) {
    const path = contents.localPath(recent.path);
    const [type] = registry.getFileTypesForPath(path);
    if (
      recent.contentType === 'directory' ||
      type?.fileFormat === 'base64' ||
      contents.driveName(recent.path) !== '' ||
      found.has(path)
    ) {
      continue;
    }
    // A notebook may last have been looked at as text, and the other way.
    const isNotebook = [recent.contentType, type?.contentType].includes(
      'notebook'
    );
    found.set(path, {
      path,
      languageId: isNotebook
        ? notebooks.get(path)
        : fileLanguage(languages, path),
      kind: isNotebook ? 'notebook' : 'file'
    });
  }
  return [...found.values()];
}

export interface IRecentsOptions {
  contents: Contents.IManager;
  languages: IEditorLanguageRegistry;
  /** Knows which files are not text. */
  registry: Pick<DocumentRegistry, 'getFileTypesForPath'>;
}
