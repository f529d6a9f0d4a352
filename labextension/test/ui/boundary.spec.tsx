// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { fireEvent, render, screen } from '@testing-library/react';
import * as React from 'react';

import { Boundary } from '../../src/ui/boundary';

function Fails({ message }: { message: string }): JSX.Element {
  if (message) {
    throw new Error(message);
  }
  return <p>fine</p>;
}

describe('Boundary', () => {
  beforeEach(() => {
    // React reports each error, whoever takes care of it.
    jest.spyOn(console, 'error').mockImplementation();
  });

  afterEach(() => jest.restoreAllMocks());

  it('shows the fallback in place of what failed, and the rest as it is', () => {
    render(
      <>
        <Boundary fallback={error => <p>{error.message}</p>}>
          <Fails message="broken" />
        </Boundary>
        <p>next</p>
      </>
    );
    expect(screen.getByText('broken')).toBeTruthy();
    expect(screen.getByText('next')).toBeTruthy();
  });

  it('tries again when it is told to, or shows something else', () => {
    let message = 'broken';
    const shown = (stamp: number) => (
      <Boundary
        stamp={stamp}
        fallback={(error, retry) => (
          <button onClick={retry}>{error.message}</button>
        )}
      >
        <Fails message={message} />
      </Boundary>
    );
    const { rerender } = render(shown(1));
    rerender(shown(1));
    expect(screen.getByText('broken')).toBeTruthy();
    message = '';
    rerender(shown(2));
    expect(screen.getByText('fine')).toBeTruthy();
    message = 'again';
    rerender(shown(2));
    message = '';
    rerender(shown(2));
    fireEvent.click(screen.getByText('again'));
    expect(screen.getByText('fine')).toBeTruthy();
  });
});
