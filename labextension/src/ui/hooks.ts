// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { ISignal } from '@lumino/signaling';
import * as React from 'react';

/** Render at once: what was just pressed must not look unpressed for a frame. */
export function useRender(): () => void {
  return React.useReducer((count: number) => count + 1, 0)[1];
}

/**
 * Render again after a signal, at most once a frame: a stream of chunks
 * must not cost more than the screen can show.
 */
export function useFrameUpdates(
  signal: ISignal<unknown, unknown> | null
): void {
  const render = useRender();
  React.useEffect(() => {
    if (!signal) {
      return;
    }
    let frame = 0;
    const schedule = () => {
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        render();
      });
    };
    signal.connect(schedule);
    // What changed between the render and this effect was not heard.
    schedule();
    return () => {
      signal.disconnect(schedule);
      cancelAnimationFrame(frame);
    };
  }, [signal, render]);
}

/** A value that is loaded, with its error in words. */
export interface ILoaded<T> {
  value: T | null;
  error: string;
  reload: () => void;
}

/** Load a value once, and again on demand. */
export function useLoaded<T>(load: () => Promise<T>): ILoaded<T> {
  const [value, setValue] = React.useState<T | null>(null);
  const [error, setError] = React.useState('');
  const [attempt, setAttempt] = React.useState(0);
  const loadRef = React.useRef(load);
  React.useEffect(() => {
    let current = true;
    loadRef.current().then(
      loaded => {
        if (current) {
          setValue(loaded);
          setError('');
        }
      },
      reason => {
        if (current) {
          setError((reason as Error).message);
        }
      }
    );
    return () => {
      current = false;
    };
  }, [attempt]);
  const reload = React.useCallback(() => setAttempt(count => count + 1), []);
  return { value, error, reload };
}

const kept = new WeakMap<object, Map<string, unknown>>();

/**
 * A state that stays with the thing that it is about: what a person unfolded
 * is still unfolded when it comes back into the page.
 */
export function useKept<T>(
  owner: object,
  name: string,
  first: T
): [T, (value: T) => void] {
  const [value, setValue] = React.useState(() => {
    const states = kept.get(owner);
    return states?.has(name) ? (states.get(name) as T) : first;
  });
  const keep = React.useCallback(
    (next: T) => {
      const states = kept.get(owner) ?? new Map<string, unknown>();
      kept.set(owner, states.set(name, next));
      setValue(next);
    },
    [owner, name]
  );
  return [value, keep];
}
