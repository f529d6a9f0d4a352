// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import { useChat } from '../ui/context';

/** What a guest reads where others write. */
export function Watching(): JSX.Element {
  const { trans } = useChat();
  return (
    <p className="jp-acp-Watching" role="note">
      {trans.__(
        'You can watch the sessions on this server. To work with its agents, ask its owner or an administrator.'
      )}
    </p>
  );
}
