// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { EditorLanguageRegistry } from '@jupyterlab/codemirror';
import {
  RenderMimeRegistry,
  standardRendererFactories
} from '@jupyterlab/rendermime';
import { type RenderResult, render } from '@testing-library/react';
import { Signal } from '@lumino/signaling';
import * as React from 'react';

import type { IAcpConnection } from '../../src/api/connection';
import { ChangesContext, type IReviewed } from '../../src/changes/context';
import { ResultsContext } from '../../src/remote/context';
import { GitProgress } from '../../src/remote/progress';
import { Results } from '../../src/remote/results';
import { ChatContext, type IChatContext } from '../../src/ui/context';
import { SessionContext } from '../../src/ui/session';
import { SESSION, english } from './helpers';

/** A socket on which nothing comes. */
class FakeConnection {
  readonly server = {};
  readonly status = 'connected';
  readonly notified = new Signal<this, IAcpConnection.INotification>(this);
  readonly statusChanged = new Signal<this, IAcpConnection.Status>(this);

  request(): Promise<never> {
    return Promise.reject(new Error('Nobody answers.'));
  }
}

/** The page around a view, without the parts of JupyterLab that a test does not use. */
export function shown(
  view: React.ReactNode,
  extra: Partial<IChatContext> = {}
): RenderResult {
  const context = {
    trans: english,
    languages: new EditorLanguageRegistry(),
    rendermime: new RenderMimeRegistry({
      initialFactories: standardRendererFactories
    }),
    terminals: { isAvailable: false },
    ...extra
  } as IChatContext;
  const session = {
    id: SESSION,
    info: { id: SESSION, agent: 'scripted' },
    changed: new Signal<object, void>({}),
    mayDecide: true
  } as unknown as IReviewed;
  const connection = new FakeConnection() as unknown as IAcpConnection;
  return render(
    <ChatContext.Provider value={{ ...context, connection }}>
      <SessionContext.Provider value={session}>
        <ChangesContext.Provider value={{ session }}>
          <ResultsContext.Provider
            value={
              new Results(connection, new GitProgress(connection), SESSION)
            }
          >
            {view}
          </ResultsContext.Provider>
        </ChangesContext.Provider>
      </SessionContext.Provider>
    </ChatContext.Provider>
  );
}
