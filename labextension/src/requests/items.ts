// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IAnswer, Question } from '../decode/questions';
import type { IRow } from '../ui/row';

/** How a question of the agent was answered, here or elsewhere. */
export interface IAnswerItem extends IRow {
  kind: 'answer';
  question: Question;
  answer: IAnswer;
}
