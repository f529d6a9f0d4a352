// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import { useChat } from '../ui/context';
import type { IAnswerItem } from './items';
import { answerWords } from './words';

/** How a question of the agent was answered, here or elsewhere. */
export function Answer({ item }: { item: IAnswerItem }): JSX.Element {
  const { trans } = useChat();
  return (
    <p className="jp-acp-Notice jp-acp-mod-answer">
      {answerWords(item.question, item.answer, trans)}
    </p>
  );
}
