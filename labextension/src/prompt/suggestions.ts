// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import type { IMention } from '../api/mentions';
import { useChat } from '../ui/context';
import {
  type ICompletion,
  type ICompletionItem,
  useCompletion
} from './completion';
import type { IPromptSession } from './session';

/** The last word before the cursor, if it begins with an at sign. */
const MENTION = /(?:^|\s)@([^\s@]*)$/;
const COMMAND = /^\/(\S*)$/;

/** While typing goes on, nobody waits for what it was a moment ago. */
const PAUSE_MS = 120;

/** What the prompt offers while one of its words is typed. */
export function useSuggestions(
  model: IPromptSession,
  text: string,
  caret: number,
  /** Put in another text, with the cursor at a place in it. */
  onReplace: (text: string, caret: number) => void
): ICompletion {
  const { trans } = useChat();
  const before = text.slice(0, caret);
  const command = COMMAND.exec(text)?.[1];
  const mention = command === undefined ? MENTION.exec(before)?.[1] : undefined;
  const mentions = useMentions(mention);

  let items: ICompletionItem[] = [];
  if (command !== undefined) {
    items = model.transcript.facts.commands
      .filter(({ name }) => name.startsWith(command))
      .map(({ name, description, input }) => ({
        key: name,
        name: `/${name}`,
        hint: input?.hint,
        detail: description,
        isTyped: name === command,
        choose: () => {
          const whole = input ? `/${name} ` : `/${name}`;
          onReplace(whole, whole.length);
        }
      }));
  } else if (mention !== undefined) {
    items = mentions.map(({ kind, name, detail, attachment }) => ({
      key: `${kind} ${attachment.type === 'image' ? name : attachment.uri}`,
      name: `@${name}`,
      detail,
      choose: () => {
        const start = `${text.slice(0, caret - mention.length)}${name} `;
        onReplace(start + text.slice(caret), start.length);
        model.composer.mention(name, attachment);
      }
    }));
  }
  return useCompletion(
    command === undefined
      ? trans.__('Files, cells and outputs')
      : trans.__('Commands of the agent'),
    items,
    before
  );
}

/** What could be meant; the last answer stays until there is another. */
function useMentions(query: string | undefined): IMention[] {
  const { context } = useChat();
  const [mentions, setMentions] = React.useState<IMention[]>([]);
  React.useEffect(() => {
    if (query === undefined || !context) {
      setMentions([]);
      return;
    }
    let isOld = false;
    const timer = setTimeout(() => {
      void context.suggest(query).then(found => {
        if (!isOld) {
          setMentions(found);
        }
      });
    }, PAUSE_MS);
    return () => {
      isOld = true;
      clearTimeout(timer);
    };
  }, [query, context]);
  return mentions;
}
