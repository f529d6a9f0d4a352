// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Clipboard, Notification } from '@jupyterlab/apputils';
import {
  type LabIcon,
  addBelowIcon,
  copyIcon,
  editIcon,
  runIcon
} from '@jupyterlab/ui-components';

import type { IChatContext } from './context';
import { hasHidden } from './hidden';

/** Put a bar on each block of code: what can be done with it. */
export function addCodeBars(
  host: HTMLElement,
  { code, trans }: Pick<IChatContext, 'code' | 'trans'>
): void {
  for (const block of host.querySelectorAll('pre')) {
    // Beside the code, not inside: what is copied by hand must be code alone.
    const frame = document.createElement('div');
    frame.className = 'jp-acp-Code';
    block.replaceWith(frame);
    frame.append(block);
    if (!isPlain(block)) {
      continue;
    }
    const text = (): string => block.textContent ?? '';
    const bar = document.createElement('div');
    bar.className = 'jp-acp-CodeBar';
    bar.setAttribute('role', 'toolbar');
    bar.setAttribute('aria-label', trans.__('Code'));
    const add = (
      icon: LabIcon,
      label: string,
      act: () => Promise<void> | void
    ): void => {
      const button = document.createElement('button');
      button.type = 'button';
      button.title = label;
      button.setAttribute('aria-label', label);
      icon.element({ container: button });
      button.addEventListener('click', () => void attempt(act));
      bar.append(button);
    };
    add(copyIcon, trans.__('Copy'), () => Clipboard.copyToSystem(text()));
    const hides = hasHidden(text());
    if (code && !hides) {
      add(
        addBelowIcon,
        trans.__('Insert below the active cell, or at the cursor of a file'),
        () => code.insert(text())
      );
      add(editIcon, trans.__('Replace the active cell'), () =>
        code.replace(text())
      );
      add(runIcon, trans.__('Insert below and run'), () => code.run(text()));
    }
    frame.append(bar);
    if (hides) {
      const warning = document.createElement('div');
      warning.className = 'jp-acp-Code-warning';
      warning.textContent = trans.__(
        'This code contains invisible characters. It may do something other than it appears to do.'
      );
      frame.append(warning);
    }
  }
}

/** Whether it is code as markdown makes it: all of it is seen. */
function isPlain(block: HTMLPreElement): boolean {
  return [...block.querySelectorAll('*')].every(({ tagName }) =>
    ['CODE', 'SPAN'].includes(tagName)
  );
}

async function attempt(act: () => Promise<void> | void): Promise<void> {
  try {
    await act();
  } catch (error) {
    Notification.warning((error as Error).message, { autoClose: 5000 });
  }
}
