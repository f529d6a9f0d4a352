// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { PathExt } from '@jupyterlab/coreutils';
import type { Contents, KernelSpec } from '@jupyterlab/services';
import type { TranslationBundle } from '@jupyterlab/translation';

import type { IAgents } from '../api/agents';
import {
  type IExportKernel,
  toMarkdown,
  toNotebook
} from '../transcript/export';
import type { Sessions } from './sessions';

interface IExportOptions {
  id: string;
  format: 'markdown' | 'notebook';
  sessions: Sessions;
  agents: IAgents;
  contents: Contents.IManager;
  kernelspecs: KernelSpec.IManager;
  trans: TranslationBundle;
}

/** Write a session next to what it is about, and return the path. */
export async function exportSession({
  id,
  format,
  sessions,
  agents,
  contents,
  kernelspecs,
  trans
}: IExportOptions): Promise<string> {
  const [transcript, known] = await Promise.all([
    sessions.archive.transcript(id),
    agents.list()
  ]);
  const session = sessions.list.get(id) ?? { id, agent: '' };
  const source = {
    title: session.title || trans.__('New session'),
    agent:
      known.find(agent => agent.id === session.agent)?.name ?? session.agent,
    created: session.created,
    items: transcript.items,
    trans
  };
  const { rootDir = '/' } = sessions.connection.server;
  const folder = await existing(contents, inside(session.cwd ?? '', rootDir));
  if (format === 'markdown') {
    const path = await freePath(contents, folder, source.title, '.md');
    const content = toMarkdown(source);
    await contents.save(path, { type: 'file', format: 'text', content });
    return path;
  }
  await kernelspecs.ready;
  const path = await freePath(contents, folder, source.title, '.ipynb');
  const content = toNotebook(source, kernelOf(kernelspecs));
  await contents.save(path, { type: 'notebook', format: 'json', content });
  return path;
}

/** The path of a folder as the contents API spells it; outside, it has none. */
function inside(cwd: string, root: string): string {
  const base = root.replace(/\/+$/, '');
  return cwd.startsWith(`${base}/`) ? cwd.slice(base.length + 1) : '';
}

async function existing(
  contents: Contents.IManager,
  folder: string
): Promise<string> {
  try {
    await contents.get(folder, { type: 'directory', content: false });
    return folder;
  } catch {
    // Hidden from the file browser, or gone meanwhile.
    return '';
  }
}

/** A path that nothing has yet, with the title in its name. */
async function freePath(
  contents: Contents.IManager,
  folder: string,
  title: string,
  extension: string
): Promise<string> {
  const listed = await contents.get(folder, {
    type: 'directory',
    content: true
  });
  const taken = new Set(
    (listed.content as Contents.IModel[]).map(({ name }) => name.toLowerCase())
  );
  const base = fileName(title);
  let name = base + extension;
  for (let count = 1; taken.has(name.toLowerCase()); count++) {
    name = `${base}-${count}${extension}`;
  }
  return PathExt.join(folder, name);
}

/** The letters and digits of a title, in any script. */
function fileName(title: string): string {
  const words = title.normalize('NFC').match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  return words.join('-').slice(0, 60).replace(/-$/, '') || 'session';
}

function kernelOf({ specs }: KernelSpec.IManager): IExportKernel {
  const spec = specs?.kernelspecs[specs.default];
  return {
    name: spec?.name ?? 'python3',
    displayName: spec?.display_name ?? 'Python 3',
    language: spec?.language ?? 'python'
  };
}
