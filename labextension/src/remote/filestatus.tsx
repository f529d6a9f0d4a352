// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import { useChat } from '../ui/context';

/** What became of a file, as git's letter for it; who asks or listens gets a word. */
export function FileStatus({ status }: { status: string }): JSX.Element {
  const { trans } = useChat();
  const letter = status.trim()[0] ?? 'M';
  const words: Record<string, string> = {
    A: trans.__('Added'),
    C: trans.__('Copied'),
    D: trans.__('Deleted'),
    M: trans.__('Modified'),
    R: trans.__('Renamed'),
    T: trans.__('Other kind of file'),
    U: trans.__('In conflict'),
    '?': trans.__('New')
  };
  const word = words[letter] ?? trans.__('Changed');
  return (
    <span
      className={`jp-acp-FileStatus ${CLASSES[letter] ?? ''}`}
      role="img"
      aria-label={word}
      title={word}
    >
      {letter}
    </span>
  );
}

const CLASSES: Record<string, string> = {
  A: 'jp-acp-mod-added',
  '?': 'jp-acp-mod-added',
  D: 'jp-acp-mod-removed'
};
