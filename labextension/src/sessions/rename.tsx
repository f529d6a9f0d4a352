// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import { CommandIDs } from '../api/commands';
import { useChat } from '../ui/context';
import { useFrameUpdates } from '../ui/hooks';
import { useSessions } from './context';
import type { TitlePlace } from './renaming';

interface IRenameProps {
  title: string;
  /** Called with the new title, or with nothing if it stays. */
  onDone: (title?: string) => void;
  /** Called when the keyboard has ended it, and the focus needs a place. */
  onLeave: () => void;
}

/** A title while it is being changed: Enter keeps it, Escape does not. */
export function Rename({ title, onDone, onLeave }: IRenameProps): JSX.Element {
  const { trans } = useChat();
  const isDone = React.useRef(false);
  const field = React.useRef<HTMLInputElement>(null);
  React.useEffect(() => field.current?.focus(), []);
  const finish = (text: string) => {
    if (!isDone.current) {
      isDone.current = true;
      const wanted = text.trim();
      onDone(wanted && wanted !== title ? wanted : undefined);
    }
  };
  return (
    <input
      className="jp-acp-Rename jp-mod-styled"
      aria-label={trans.__('Title of the session')}
      defaultValue={title}
      maxLength={500}
      ref={field}
      onFocus={event => event.target.select()}
      onBlur={event => finish(event.target.value)}
      onKeyDown={event => {
        const { key, currentTarget, nativeEvent } = event;
        if (nativeEvent.isComposing) {
          return;
        }
        if (key === 'Enter' || key === 'Escape') {
          event.preventDefault();
          event.stopPropagation();
          finish(key === 'Enter' ? currentTarget.value : title);
          onLeave();
        }
      }}
    />
  );
}

/** Whether a title is being changed at a place, and what comes of it. */
export function useRenaming(
  id: string,
  place: TitlePlace
): { isRenaming: boolean; onDone: (title?: string) => void } {
  const { renaming, run } = useSessions();
  useFrameUpdates(renaming.changed);
  const isRenaming = renaming.isAt(id, place);
  // What leaves the page is not renamed any more when it comes back.
  React.useEffect(
    () => (isRenaming ? () => renaming.end(id, place) : undefined),
    [isRenaming, renaming, id, place]
  );
  return {
    isRenaming,
    onDone: title => {
      renaming.end(id, place);
      if (title) {
        run(CommandIDs.renameSession, { id, title });
      }
    }
  };
}
