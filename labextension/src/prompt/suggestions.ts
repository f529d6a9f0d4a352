// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import type { ISuggestion } from '../api/prompt';
import { useChat } from '../ui/context';
import {
  type ICompletion,
  type ICompletionItem,
  useCompletion
} from './completion';
import { useProviders } from './context';
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
  const trigger = command === undefined ? '@' : '/';
  const found = useFound(model, trigger, command ?? mention);

  const items = found.map((each, index): ICompletionItem => {
    const { name, detail, hint, attachment } = each;
    return {
      key: `${index} ${name}`,
      name: trigger + name,
      detail,
      hint,
      isTyped: name === command,
      choose: () => {
        if (command === undefined) {
          const start = `${text.slice(0, caret - mention!.length)}${name} `;
          onReplace(start + text.slice(caret), start.length);
        } else {
          const whole = hint === undefined ? `/${name}` : `/${name} `;
          onReplace(whole, whole.length);
        }
        if (attachment && command === undefined) {
          model.composer.mention(name, attachment);
        } else if (attachment) {
          model.composer.attach(attachment);
        }
      }
    };
  });
  return useCompletion(
    command === undefined
      ? trans.__('Files, cells and outputs')
      : trans.__('Commands of the agent'),
    items,
    before
  );
}

/** What could be meant; the last answer stays until there is another. */
function useFound(
  model: IPromptSession,
  trigger: '@' | '/',
  query: string | undefined
): readonly ISuggestion[] {
  const providers = useProviders();
  const [found, setFound] = React.useState<readonly ISuggestion[]>([]);
  // An agent may tell its commands after the slash was typed.
  const commands = trigger === '/' ? model.commands : null;
  React.useEffect(() => {
    if (query === undefined) {
      setFound([]);
      return;
    }
    const controller = new AbortController();
    const { signal } = controller;
    const ask = (): void =>
      providers.suggestions.suggest(trigger, query, model, signal, setFound);
    // Commands are known; files have to be looked for.
    const timer = setTimeout(ask, trigger === '@' ? PAUSE_MS : 0);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [model, providers, query, trigger, commands]);
  return found;
}
