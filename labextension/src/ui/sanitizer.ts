// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IRenderMime } from '@jupyterlab/rendermime';

/** What makes JupyterLab run a command when it is clicked. */
const COMMANDS = ['data-commandlinker-command', 'data-commandlinker-args'];

/** Attributes by which something could be hidden, painted over others, or fetched. */
const LOOKS = ['style', 'hidden', 'popover'];

/** Attributes that send something, take the focus, or are found by the names that others look for. */
const REACHES = ['ping', 'autofocus', 'accesskey', 'tabindex', 'id', 'name'];

/** Elements in which something could be filled in or pressed; what is in them stays. */
const CONTROLS = 'form, button, input, select, textarea, fieldset, dialog';

/** Attributes that make the browser fetch something at once. */
const SOURCES = ['src', 'srcset', 'poster', 'background'];

/** The classes of highlighted code; others may mean anything to anybody's style sheets. */
const HARMLESS_CLASS = /^(\u037c|cm-|language-)/;

/**
 * JupyterLab's sanitizer is made for what the user opens; agents also repeat
 * what they have read elsewhere. Nothing of theirs may fetch anything, which
 * would carry data away, nor run commands or look like a part of JupyterLab.
 */
export function strictSanitizer(
  usual: IRenderMime.ISanitizer
): IRenderMime.ISanitizer {
  return {
    ...usual,
    sanitize: (dirty, options) => tame(usual.sanitize(dirty, options))
  };
}

function tame(html: string): string {
  // In a document of its own nothing is loaded.
  const { body } = new DOMParser().parseFromString(html, 'text/html');
  for (const element of body.querySelectorAll('*')) {
    for (const name of [...COMMANDS, ...LOOKS, ...REACHES]) {
      element.removeAttribute(name);
    }
    for (const name of [...element.classList]) {
      if (!HARMLESS_CLASS.test(name)) {
        element.classList.remove(name);
      }
    }
    for (const name of SOURCES) {
      const source = element.getAttribute(name);
      if (source !== null && !/^data:(image|audio|video)\//i.test(source)) {
        element.removeAttribute(name);
        if (name === 'src' && element instanceof HTMLImageElement) {
          element.replaceWith(inPlaceOf(source, element.alt));
        }
      }
    }
  }
  for (const element of body.querySelectorAll(CONTROLS)) {
    // Lists of what is to be done have boxes, which are only looked at.
    if (element.matches('input[type="checkbox"]')) {
      element.setAttribute('disabled', '');
    } else {
      element.replaceWith(...element.childNodes);
    }
  }
  return body.innerHTML;
}

/** Who wants to see a picture from elsewhere can go there. */
function inPlaceOf(source: string, words: string): Node {
  const isAddress = /^https?:/i.test(source);
  const isPath = !/^\s*[a-z][a-z\d+.-]*:/i.test(source);
  if (!isAddress && !isPath) {
    return document.createTextNode(words);
  }
  const link = document.createElement('a');
  link.setAttribute('href', source);
  link.textContent = words || source;
  return link;
}
