// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Dialog, showDialog } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';

import type { ISessionInfo } from '../protocol';
import { statusOf } from './list';
import { titleOf } from './words';

/** Ask before a session is deleted. */
export function confirmDelete(
  session: ISessionInfo,
  trans: TranslationBundle
): Promise<boolean> {
  const lost = trans.__(
    '“%1” and its transcript will be deleted permanently. Files that the agent has changed are kept.',
    titleOf(session, trans)
  );
  const isBusy = ['running', 'waiting'].includes(statusOf(session));
  return confirm(
    trans.__('Delete this session?'),
    isBusy
      ? `${lost} ${trans.__('The agent is still working and will be stopped.')}`
      : lost,
    trans.__('Delete'),
    trans
  );
}

/** Ask before a transcript is replaced by what its agent tells. */
export function confirmReload(trans: TranslationBundle): Promise<boolean> {
  return confirm(
    trans.__('Reload this session from its agent?'),
    trans.__(
      'The history from the agent replaces the whole transcript. Data that only Jupyter has is lost: answers to questions, command output and recorded changes, which you can then no longer undo here. Files are not changed.'
    ),
    trans.__('Reload'),
    trans
  );
}

async function confirm(
  title: string,
  body: string,
  label: string,
  trans: TranslationBundle
): Promise<boolean> {
  const { button } = await showDialog({
    title,
    body,
    buttons: [
      Dialog.cancelButton({ label: trans.__('Cancel') }),
      Dialog.warnButton({ label })
    ]
  });
  return button.accept;
}

/** Let the browser save a text as a file. */
export function download(name: string, text: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text]));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
