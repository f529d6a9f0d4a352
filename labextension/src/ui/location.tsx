// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import { useChat } from './context';
import { Visible } from './visible';

interface ILocationProps {
  /** An absolute path or a file's URI. */
  path: string;
  /** Counted from 1. */
  line?: number | null;
  /** What to show instead of the file's name. */
  children?: string;
}

/** A place in a file, which opens there if it is one of Jupyter's. */
export function Location({
  path,
  line,
  children
}: ILocationProps): JSX.Element {
  const { opener, trans } = useChat();
  const name = children ?? path.split('/').at(-1) ?? path;
  const text = line ? `${name}:${line}` : name;
  const place = opener?.find(path);
  if (!opener || !place) {
    return (
      <span className="jp-acp-Location" title={path}>
        <Visible text={text} />
      </span>
    );
  }
  return (
    <button
      type="button"
      className="jp-acp-Location jp-acp-mod-link"
      title={trans.__('Open %1', line ? `${path}:${line}` : path)}
      onClick={() => void opener.open({ ...place, line: line ?? place.line })}
    >
      <Visible text={text} />
    </button>
  );
}
