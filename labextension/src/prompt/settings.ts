// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IChatSettings } from '../api/chat';
import { useChat } from '../ui/context';
import { useFrameUpdates } from '../ui/hooks';

/** How the chat behaves, as it is set at the moment. */
export function useChatSettings(): Pick<
  IChatSettings,
  'sendsWithEnter' | 'sharesContext'
> {
  const { settings } = useChat();
  useFrameUpdates(settings?.changed ?? null);
  return settings ?? { sendsWithEnter: true, sharesContext: true };
}
