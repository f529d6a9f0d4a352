// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import type { IChatSettings } from '../api/chat';
import { useChat } from '../ui/context';
import { useFrameUpdates } from '../ui/hooks';
import type { IPromptSession } from './session';

/** How the chat behaves, as it is set at the moment. */
export function useChatSettings(): Pick<
  IChatSettings,
  'sendsWithEnter' | 'sharesContext'
> {
  const { settings } = useChat();
  useFrameUpdates(settings?.changed ?? null);
  return settings ?? { sendsWithEnter: true, sharesContext: true };
}

/** Whether messages of a session tell where the user is: by a click there, or as set. */
export function useSharesContext(): (
  session: Pick<IPromptSession, 'composer'>
) => boolean {
  const { sharesContext } = useChatSettings();
  return React.useCallback(
    ({ composer }) => composer.sharesContext ?? sharesContext,
    [sharesContext]
  );
}
