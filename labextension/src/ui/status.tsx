// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import type { IAcpConnection } from '../api/connection';
import { useChat } from './context';
import { Elapsed } from './elapsed';

/** Says that something takes its time. */
export function ProgressBar({ label }: { label: string }): JSX.Element {
  const { connection, trans } = useChat();
  if (!label) {
    return <div className="jp-acp-Progress" />;
  }
  const { limits } = connection.server;
  return (
    <>
      <div
        className="jp-acp-Progress jp-acp-mod-active"
        role="progressbar"
        aria-label={label}
        title={label}
      />
      <Elapsed key={label} after={3}>
        {seconds => (
          <p className="jp-acp-Hint jp-acp-Patience">
            {limits
              ? trans.__(
                  '%1 %2 s, of at most %3 s',
                  label,
                  seconds,
                  limits.initialize + limits.request
                )
              : trans.__('%1 %2 s', label, seconds)}
          </p>
        )}
      </Elapsed>
    </>
  );
}

/** Says that the server cannot be reached, while it cannot. */
export function Offline(): JSX.Element | null {
  const { trans } = useChat();
  if (useConnectionStatus() !== 'disconnected') {
    return null;
  }
  return (
    <p className="jp-acp-Offline" role="status">
      {trans.__('The connection to the Jupyter server is lost. Trying again…')}
    </p>
  );
}

/** Says what went wrong, and offers what can be done about it. */
export function Problem({
  text,
  children
}: React.PropsWithChildren<{ text: string }>): JSX.Element | null {
  if (!text) {
    return null;
  }
  return (
    <div className="jp-acp-Problem" role="alert">
      <span>{text}</span>
      {children}
    </div>
  );
}

export function useConnectionStatus(): IAcpConnection.Status {
  const { connection } = useChat();
  const subscribe = React.useCallback(
    (notify: () => void) => {
      connection.statusChanged.connect(notify);
      return () => {
        connection.statusChanged.disconnect(notify);
      };
    },
    [connection]
  );
  return React.useSyncExternalStore(subscribe, () => connection.status);
}
