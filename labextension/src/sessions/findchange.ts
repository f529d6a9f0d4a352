// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IFoundChange } from '../changes/context';
import { RpcError } from '../connection/rpc';
import type { SessionModel } from './session';
import type { Sessions } from './sessions';

/**
 * Follow a session and find one of its changes, or one in its results; null if
 * there is none any more.
 */
export async function findChange(
  sessions: Sessions,
  id: string,
  key: string
): Promise<IFoundChange | null> {
  try {
    const session = await sessions.follow(id);
    await caughtUp(session);
    const change =
      session.transcript.change(key) ?? (await session.results.change(key));
    return change && { session, change };
  } catch (error) {
    if (error instanceof RpcError) {
      // The server has answered: it does not know of it any more.
      return null;
    }
    throw error;
  }
}

/** Wait for all that was said in a session before this window followed it. */
function caughtUp(session: SessionModel): Promise<void> {
  return new Promise(resolve => {
    const look = (): void => {
      const { transcript, info } = session;
      // The number is known with the answer to the first attach, or before.
      if (info.seq !== undefined && transcript.seq >= info.seq) {
        session.changed.disconnect(look);
        resolve();
      }
    };
    session.changed.connect(look);
    look();
  });
}
