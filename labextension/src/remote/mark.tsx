// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import type { IGitRemoteRef } from '../protocol';
import { useChat } from '../ui/context';
import { remoteIcon } from '../ui/icons';
import { remoteWords } from './words';

/** Tells a session whose files are elsewhere from the others. */
export function RemoteMark({ remote }: { remote: IGitRemoteRef }): JSX.Element {
  const { trans } = useChat();
  const words = remoteWords(remote, trans);
  return (
    <span
      className="jp-acp-RemoteMark"
      role="img"
      aria-label={words}
      title={words}
    >
      <remoteIcon.react tag="span" />
    </span>
  );
}
