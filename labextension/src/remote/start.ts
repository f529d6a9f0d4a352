// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import type { IChatPanel } from '../api/chat';
import { RemoteSetup } from './setup';

/** The remote session that is about to begin, of which there is one at a time. */
export interface IRemoteStart {
  readonly setup: RemoteSetup | null;
  /** Whether it is what the panel shows. */
  readonly isShown: boolean;
  /** Begin to begin one; one that is on its way is shown instead. */
  open(wanted: IChatPanel.IRemote): void;
  show(): void;
  /** Something else is shown; what is on its way goes on. */
  leave(): void;
  close(): void;
}

export function useRemoteStart(
  sessions: RemoteSetup.IOptions['sessions']
): IRemoteStart {
  const [setup, setSetup] = React.useState<RemoteSetup | null>(null);
  const [isShown, setShown] = React.useState(false);
  const current = React.useRef<RemoteSetup | null>(null);
  const calls = React.useMemo(() => {
    const replace = (next: RemoteSetup | null): void => {
      current.current?.dispose();
      current.current = next;
      setSetup(next);
      setShown(next !== null);
    };
    return {
      open: (wanted: IChatPanel.IRemote) =>
        current.current?.step
          ? setShown(true)
          : replace(new RemoteSetup({ sessions, ...wanted })),
      show: () => setShown(true),
      leave: () => (current.current?.step ? setShown(false) : replace(null)),
      close: () => replace(null)
    };
  }, [sessions]);
  React.useEffect(() => () => current.current?.dispose(), []);
  return { setup, isShown, ...calls };
}
