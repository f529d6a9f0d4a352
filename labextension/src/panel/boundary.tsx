// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Button } from '@jupyterlab/ui-components';
import * as React from 'react';

import { Boundary } from '../ui/boundary';
import { useChat } from '../ui/context';

interface IPanelBoundaryProps {
  /** Show something else than what failed, if there is something else. */
  onLeave?: () => void;
  children: React.ReactNode;
}

/** Lets a panel that has failed be loaded again, without the rest of the page. */
export const PanelBoundary = React.forwardRef<Boundary, IPanelBoundaryProps>(
  function PanelBoundary({ onLeave, children }, ref): JSX.Element {
    const { trans } = useChat();
    return (
      <Boundary
        ref={ref}
        fallback={(error, retry) => (
          <div className="jp-acp-Failure" role="alert">
            <p>{trans.__('The chat could not be shown: %1', error.message)}</p>
            <p>
              {trans.__('The session is kept, and its agent goes on working.')}
            </p>
            <div className="jp-acp-Card-buttons">
              <Button className="jp-mod-styled" onClick={retry}>
                {trans.__('Reload the chat')}
              </Button>
              {onLeave && (
                <Button
                  className="jp-mod-styled"
                  onClick={() => {
                    onLeave();
                    retry();
                  }}
                >
                  {trans.__('Show all sessions')}
                </Button>
              )}
            </div>
          </div>
        )}
      >
        {children}
      </Boundary>
    );
  }
);
