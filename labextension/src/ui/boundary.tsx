// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

interface IBoundaryProps {
  /** What is said in place of what cannot be shown. */
  words: string;
  children: React.ReactNode;
}

/** Keeps what one thing of an agent's breaks to that one: agents may send anything. */
export class Boundary extends React.Component<
  IBoundaryProps,
  { isBroken: boolean }
> {
  static getDerivedStateFromError(): { isBroken: boolean } {
    return { isBroken: true };
  }

  override state = { isBroken: false };

  override render(): React.ReactNode {
    return this.state.isBroken ? (
      <p className="jp-acp-Problem" role="alert">
        {this.props.words}
      </p>
    ) : (
      this.props.children
    );
  }
}
