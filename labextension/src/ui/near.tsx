// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

interface INearProps {
  /** What stands there until then. */
  instead: React.ReactNode;
  children: React.ReactNode;
}

/** Something that takes its time to make, made when it comes into sight. */
export function Near({ instead, children }: INearProps): JSX.Element {
  const place = React.useRef<HTMLDivElement>(null);
  const [isNear, setNear] = React.useState(false);
  React.useEffect(() => {
    const observer = new IntersectionObserver(entries => {
      if (entries.some(entry => entry.isIntersecting)) {
        observer.disconnect();
        setNear(true);
      }
    });
    observer.observe(place.current!);
    return () => observer.disconnect();
  }, []);
  return <div ref={place}>{isNear ? children : instead}</div>;
}
