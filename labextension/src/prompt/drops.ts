// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { TranslationBundle } from '@jupyterlab/translation';
import type { Drag } from '@lumino/dragdrop';
import * as React from 'react';

import type { Attachment } from '../api/attachment';
import type { IPromptContext } from '../api/mentions';
import { fenced } from '../ui/fence';
import type { IPromptSession } from './session';

/** What JupyterLab's file browser and notebooks say that is dragged. */
const FILES_MIME = 'application/x-jupyter-icontents';
const CELLS_MIME = 'application/vnd.jupyter.cells';

/** As much as agents and their services commonly take. */
const MAX_IMAGE_BYTES = 5 * 1024 * 1024;
const MAX_TEXT_BYTES = 256 * 1024;

/** Takes what is dropped on an element, of JupyterLab's or from elsewhere. */
export function useDrops(
  element: React.RefObject<HTMLElement>,
  model: IPromptSession,
  context: IPromptContext | undefined,
  trans: TranslationBundle
): { isOver: boolean } {
  const [isOver, setOver] = React.useState(false);
  React.useEffect(() => {
    const node = element.current;
    if (!node) {
      return;
    }
    const onLumino = (event: Event): void => {
      const drag = event as Drag.Event;
      const has = (type: string): boolean => drag.mimeData.hasData(type);
      if (!has(FILES_MIME) && !has(CELLS_MIME)) {
        return;
      }
      event.preventDefault();
      event.stopPropagation();
      setOver(event.type === 'lm-dragenter' || event.type === 'lm-dragover');
      drag.dropAction =
        event.type === 'lm-dragleave' ? 'none' : drag.proposedAction;
      if (event.type === 'lm-drop') {
        model.composer.attach(...dragged(drag, context));
      }
    };
    const onNative = (event: DragEvent): void => {
      if (!event.dataTransfer?.types.includes('Files')) {
        return;
      }
      event.preventDefault();
      event.stopPropagation();
      setOver(event.type === 'dragover');
      if (event.type === 'drop') {
        void attachFiles([...event.dataTransfer.files], model, trans);
      }
    };
    const lumino = ['lm-dragenter', 'lm-dragover', 'lm-dragleave', 'lm-drop'];
    const native = ['dragover', 'dragleave', 'drop'] as const;
    lumino.forEach(type => node.addEventListener(type, onLumino));
    native.forEach(type => node.addEventListener(type, onNative));
    return () => {
      lumino.forEach(type => node.removeEventListener(type, onLumino));
      native.forEach(type => node.removeEventListener(type, onNative));
    };
  }, [element, model, context, trans]);
  return { isOver };
}

/** Attach files that are not the server's: pictures and texts. */
export async function attachFiles(
  files: readonly File[],
  model: IPromptSession,
  trans: TranslationBundle
): Promise<void> {
  for (const file of files) {
    try {
      model.composer.attach(await readFile(file, model, trans));
    } catch (error) {
      model.report((error as Error).message);
    }
  }
}

async function readFile(
  file: File,
  model: IPromptSession,
  trans: TranslationBundle
): Promise<Attachment> {
  const name = file.name || trans.__('Pasted image');
  const isImage = file.type.startsWith('image/');
  if (isImage && !model.transcript.facts.promptCapabilities.image) {
    throw new Error(
      trans.__('%1 was not attached: this agent does not accept images.', name)
    );
  }
  if (file.size > (isImage ? MAX_IMAGE_BYTES : MAX_TEXT_BYTES)) {
    throw new Error(
      trans.__(
        '%1 was not attached: it is too large. Upload it in the file browser and mention it with @.',
        name
      )
    );
  }
  if (isImage) {
    return {
      type: 'image',
      name,
      mimeType: file.type,
      data: await base64(file)
    };
  }
  const text = await file.text();
  if (text.includes('\0')) {
    throw new Error(
      trans.__('%1 was not attached: it is neither text nor an image.', name)
    );
  }
  const uri = `attachment:///${encodeURIComponent(name)}`;
  return { type: 'text', name, uri, text };
}

async function base64(file: File): Promise<string> {
  const url = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result as string);
    reader.onerror = () => reject(reader.error ?? new Error(file.name));
    reader.readAsDataURL(file);
  });
  return url.slice(url.indexOf(',') + 1);
}

function dragged(
  { mimeData, source }: Drag.Event,
  context: IPromptContext | undefined
): Attachment[] {
  if (!context) {
    return [];
  }
  if (mimeData.hasData(FILES_MIME)) {
    const paths = mimeData.getData(FILES_MIME) as string[];
    return paths.map(path => context.file(path));
  }
  const cells = mimeData.getData(CELLS_MIME) as {
    id?: string;
    source: string | string[];
  }[];
  const path = pathOf(source);
  return cells.flatMap(({ id, source }) => {
    const cell = path && id ? context.cell(path, id) : null;
    const text = Array.isArray(source) ? source.join('') : source;
    return (
      cell ?? {
        type: 'text' as const,
        name: text.trim().split('\n', 1)[0].slice(0, 40),
        uri: `attachment:///cell-${id ?? 'copy'}`,
        text: fenced(text)
      }
    );
  });
}

/** The notebook that a cell is dragged out of. */
function pathOf(source: unknown): string | undefined {
  const { parent } = (source ?? {}) as {
    parent?: { context?: { path: string } };
  };
  return parent?.context?.path;
}
