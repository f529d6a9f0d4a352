// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { ToolCallContent } from '@agentclientprotocol/sdk';

import type { IPermission } from '../decode/questions';
import { ourMeta } from '../protocol';
import { type IToolCall, mergeToolCall, newToolCall } from '../tools/call';
import { asText } from '../tools/input';
import { isJsonTitle, ownKind } from '../tools/owntools';
import { hasHidden } from '../ui/hidden';

/** What a question asks about, as a card shows it. */
export interface IAsked {
  call: IToolCall;
  /** Whether there are characters in it that cannot be seen. */
  isHiding: boolean;
}

export function askedOf(
  { call: asked, explained }: IPermission,
  dropped: readonly unknown[] = []
): IAsked {
  const call = newToolCall(asked?.toolCallId ?? '');
  mergeToolCall(call, asked ?? { toolCallId: '' });
  const { tool, title, content, isWarned } = explained;
  if (tool && content) {
    // What the tool would be called with says the same in the agent's words.
    const { locations } = call;
    const own = { ...newToolCall(call.toolCallId), kind: ownKind(tool) };
    return {
      call: { ...own, content, locations },
      isHiding: anyHidden([title, content, locations, dropped])
    };
  }
  if (isJsonTitle(call.title)) {
    // It is what the tool would be called with, and read as such.
    call.content = withTitle(call);
  }
  if (isWarned) {
    // The files are told in our own way.
    call.content = call.content.filter(part => !isWarning(part));
  }
  return { call, isHiding: anyHidden([asked, dropped]) };
}

/** What a call shows, and its title where that is neither words nor the input. */
function withTitle({
  title,
  content,
  rawInput
}: IToolCall): readonly ToolCallContent[] {
  const isTold = ['{}', '[]', asText(rawInput), asText(rawInput, 2)];
  return isTold.includes(title.trim())
    ? content
    : [{ type: 'content', content: { type: 'text', text: title } }, ...content];
}

/** Whether it is for clients that know nothing of the files that we tell of. */
function isWarning(part: ToolCallContent): boolean {
  return part.type === 'content' && 'risk' in ourMeta(part.content);
}

/** Whether something hides in any of the texts that are to be approved. */
function anyHidden(value: unknown): boolean {
  if (typeof value === 'string') {
    return hasHidden(value);
  }
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.values(value).some(anyHidden)
  );
}
