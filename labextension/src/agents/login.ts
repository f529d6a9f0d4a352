// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { RpcError } from '../connection/rpc';
import { type AuthMethod, ErrorCode, ourMeta } from '../protocol';

/** An agent that wants to know who asks, and how that is done. */
export interface ILoginNeeded {
  agent: string;
  agentName: string;
  methods: AuthMethod[];
}

interface IRefusal {
  agent: string;
  agentName: string;
  authMethods: AuthMethod[];
}

/** What an agent's refusal asks for; null if it was refused for another reason. */
export function loginNeeded(error: unknown): ILoginNeeded | null {
  if (!(error instanceof RpcError) || error.code !== ErrorCode.authRequired) {
    return null;
  }
  const { agent, agentName, authMethods } = ourMeta<IRefusal>(error.data);
  return agent && authMethods?.length
    ? { agent, agentName: agentName || agent, methods: authMethods }
    : null;
}
