// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

const SECOND_MS = 1000;

interface IElapsedProps {
  /** When it began; when this was first shown, if that is not known. */
  since?: number | null;
  /** How many seconds need no mention. */
  after: number;
  children: (seconds: number) => React.ReactNode;
}

/** Tells how long something has taken, once it takes long. */
export function Elapsed({
  since,
  after,
  children
}: IElapsedProps): JSX.Element | null {
  const [shown] = React.useState(() => Date.now());
  const [now, setNow] = React.useState(shown);
  React.useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), SECOND_MS);
    return () => clearInterval(timer);
  }, []);
  // The server's clock may be another than ours: never less than was seen here.
  const began = Math.min(since ?? shown, shown);
  const seconds = Math.floor((now - began) / SECOND_MS);
  return seconds >= after ? <>{children(seconds)}</> : null;
}

/** A duration as clocks show it. */
export function clock(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  return `${minutes}:${String(seconds % 60).padStart(2, '0')}`;
}
