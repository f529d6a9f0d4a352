// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

interface IBoundaryProps {
  /** Shown in place of what cannot be shown; may try again. */
  fallback: (error: Error, retry: () => void) => React.ReactNode;
  /** Something else is to be shown when this changes. */
  stamp?: unknown;
  children: React.ReactNode;
}

interface IBoundaryState {
  error: Error | null;
  stamp: unknown;
}

/** Keeps an error of one part from taking the rest of the page with it. */
export class Boundary extends React.Component<IBoundaryProps, IBoundaryState> {
  static getDerivedStateFromError(error: Error): Partial<IBoundaryState> {
    return { error };
  }

  static getDerivedStateFromProps(
    { stamp }: IBoundaryProps,
    state: IBoundaryState
  ): IBoundaryState | null {
    return stamp === state.stamp ? null : { error: null, stamp };
  }

  override state: IBoundaryState = { error: null, stamp: this.props.stamp };

  get hasFailed(): boolean {
    return this.state.error !== null;
  }

  readonly retry = (): void => this.setState({ error: null });

  override render(): React.ReactNode {
    const { error } = this.state;
    return error ? this.props.fallback(error, this.retry) : this.props.children;
  }
}
