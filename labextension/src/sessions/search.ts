// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import type { IMatch } from '../protocol';
import { useSessions } from './context';

/** How long nothing must be typed before the server is asked. */
const PAUSE_MS = 250;

/** What transcripts say to some words. */
export interface ISaid {
  /** The places in each session, by its id. */
  places: ReadonlyMap<string, readonly IMatch[]>;
  isSearching: boolean;
  problem: string;
}

const NOTHING: ISaid = { places: new Map(), isSearching: false, problem: '' };

/** Look for words in everything that was said, a moment after the last was typed. */
export function useSaid(words: string): ISaid {
  const { sessions } = useSessions();
  const [said, setSaid] = React.useState(NOTHING);
  React.useEffect(() => {
    if (!words) {
      setSaid(NOTHING);
      return;
    }
    let isWanted = true;
    // What was found before stays until there is something else: lists that flicker cannot be read.
    setSaid(before => ({ ...before, isSearching: true, problem: '' }));
    const show = (found: ISaid) => isWanted && setSaid(found);
    const timer = setTimeout(() => {
      sessions.archive.search(words).then(
        places => show({ places, isSearching: false, problem: '' }),
        (error: Error) => show({ ...NOTHING, problem: error.message })
      );
    }, PAUSE_MS);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [sessions, words]);
  return said;
}
