// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

/** What is asked where no rule fits, from what is chosen in the settings. */
export function defaultsOf({
  everything,
  reading,
  editing,
  running,
  restarting
}: ReadonlyPartialJSONObject): Record<string, unknown> {
  const chosen = {
    read: reading,
    write: editing,
    run: running,
    restart: restarting
  };
  return everything
    ? Object.fromEntries(Object.keys(chosen).map(kind => [kind, 'ask']))
    : chosen;
}
