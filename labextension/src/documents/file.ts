// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { Contents } from '@jupyterlab/services';

import type { IDocumentWriteParams } from '../protocol';

type Context = DocumentRegistry.Context;
type IMergedFile = NonNullable<IDocumentWriteParams['onDisk']>;

/**
 * Save a document without a question to the user: whoever asked for it waits,
 * and is better placed to deal with a file that is not what it was.
 *
 * @returns False if the file was changed by others; nothing is saved then.
 */
export async function save(
  context: Context,
  contents: Contents.IManager
): Promise<boolean> {
  const { model } = context;
  if (model.collaborative) {
    // The server writes the file and follows what others do to it; of both
    // the context may not have heard yet.
    await takeStamp(context, contents);
  } else if (await isChangedOnDisk(context, contents)) {
    return false;
  }
  let isChangedMeanwhile = false;
  const onChange = (): void => {
    isChangedMeanwhile = true;
  };
  model.contentChanged.connect(onChange);
  try {
    await context.save();
  } finally {
    model.contentChanged.disconnect(onChange);
  }
  // The context takes what was typed while it saved for saved.
  if (isChangedMeanwhile && !model.collaborative && !context.isDisposed) {
    model.dirty = true;
  }
  return true;
}

/** Take the file that was merged for the one that the document is of. */
export async function adoptFile(
  context: Context,
  contents: Contents.IManager,
  file: IMergedFile
): Promise<void> {
  const { model } = context;
  // Not later: the user may type while we wait.
  model.dirty = file.dirty;
  try {
    const isTaken = await takeStamp(context, contents, file.hash);
    if (!isTaken && !context.isDisposed && !model.dirty) {
      await context.revert();
    }
  } catch (error) {
    if (!context.isDisposed) {
      model.dirty = true;
    }
    throw error;
  }
}

/**
 * Remember the time and hash that the file has, so that saving finds nothing
 * changed: as it is now, or as it was when it had a certain hash.
 *
 * There is no public way to this but `revert()`, which replaces the whole
 * model: undo history, cursor, scroll position and the widgets of all outputs
 * would be lost, and with them what the file does not have.
 *
 * @returns False if this JupyterLab has no such way.
 */
async function takeStamp(
  context: Context,
  contents: Contents.IManager,
  hash?: string
): Promise<boolean> {
  const file = await stat(context, contents);
  const isNewer = hash !== undefined && file.hash && file.hash !== hash;
  const inside = context as unknown as {
    _updateContentsModel?: (model: object) => void;
  };
  if (typeof inside._updateContentsModel !== 'function') {
    return false;
  }
  if (!context.isDisposed) {
    inside._updateContentsModel({
      ...context.contentsModel,
      // Others may have written once more: that must not be overlooked.
      ...(isNewer ? {} : { last_modified: file.last_modified }),
      hash: isNewer ? hash : file.hash,
      hash_algorithm: file.hash_algorithm
    });
  }
  return true;
}

/** Compares as a context does before it saves. */
async function isChangedOnDisk(
  context: Context,
  contents: Contents.IManager
): Promise<boolean> {
  const known = context.contentsModel;
  let file: Contents.IModel;
  try {
    file = await stat(context, contents);
  } catch {
    // Saving makes a file that is gone anew, and tells what else is wrong.
    return false;
  }
  if (!known) {
    return false;
  }
  if (known.hash && file.hash) {
    return known.hash !== file.hash;
  }
  const age = Date.parse(file.last_modified) - Date.parse(known.last_modified);
  return age > context.lastModifiedCheckMargin;
}

function stat(
  context: Context,
  contents: Contents.IManager
): Promise<Contents.IModel> {
  return contents.get(context.path, { content: false, hash: true });
}
