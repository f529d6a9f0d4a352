// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

/** As the form has them: there, an object loses the focus whenever a name in it changes. */
type IPairs = { name: string; value?: string }[];

/** An MCP server as it is in the settings. */
export interface IServerSetting {
  env?: IPairs;
  headers?: IPairs;
  [field: string]: unknown;
}

/** A server as an administrator would write it. */
export function toldServer({
  env,
  headers,
  ...server
}: IServerSetting): object {
  return {
    ...server,
    ...(env && { env: byName(env) }),
    ...(headers && { headers: byName(headers) })
  };
}

function byName(pairs: IPairs): Record<string, string> {
  return Object.fromEntries(pairs.map(({ name, value = '' }) => [name, value]));
}
