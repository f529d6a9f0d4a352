// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import type { IChangeViewer } from '../changes/context';
import { ProvidersContext } from '../prompt/context';
import { RenderersContext } from '../tools/parts';
import type { ToolRenderers } from '../tools/renderers';
import { ChatContext, type IChatContext } from '../ui/context';
import type { Renaming } from './renaming';
import type { Sessions } from './sessions';

/** What the views of sessions use. */
export interface ISessionsContext extends IChatContext {
  sessions: Sessions;
  renderers: ToolRenderers;
  renaming: Renaming;
  /** Do something that an agent may refuse for want of a login; the panel shows how it goes. */
  attempt(words: string, work: () => Promise<unknown>): Promise<void>;
  /** Absent where there are no tabs. */
  viewer?: IChangeViewer;
}

const SessionsContext = React.createContext<ISessionsContext | null>(null);

interface IProviderProps {
  context: ISessionsContext;
  children: React.ReactNode;
}

export function SessionsProvider({
  context,
  children
}: IProviderProps): JSX.Element {
  return (
    <ChatContext.Provider value={context}>
      <SessionsContext.Provider value={context}>
        <RenderersContext.Provider value={context.renderers}>
          <ProvidersContext.Provider value={context.sessions}>
            {children}
          </ProvidersContext.Provider>
        </RenderersContext.Provider>
      </SessionsContext.Provider>
    </ChatContext.Provider>
  );
}

export function useSessions(): ISessionsContext {
  const context = React.useContext(SessionsContext);
  if (!context) {
    throw new Error('A view of sessions was used outside of the chat.');
  }
  return context;
}
