// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { TranslationBundle } from '@jupyterlab/translation';

import type { IAnswer, Question } from '../decode/questions';
import { permissionWords } from '../tools/owntools';
import { chosenWords } from './options';

/** What a question is about; empty if the agent never says. */
export function questionWords(
  question: Question,
  trans: TranslationBundle
): string {
  return question.kind === 'permission'
    ? permissionWords(question, trans)
    : question.message;
}

/** How a question was answered. */
export function answerWords(
  question: Question,
  { optionId, action }: IAnswer,
  trans: TranslationBundle
): string {
  const words = questionWords(question, trans);
  if (question.kind === 'permission') {
    const title = words || trans.__('Permission');
    if (optionId === undefined) {
      return trans.__('Not answered: %1', title);
    }
    const option = question.options.find(each => each.optionId === optionId);
    const chosen = option ? chosenWords(option, trans) : optionId;
    return trans.__('%1: %2', chosen, title);
  }
  const title = words || trans.__('Question');
  switch (action) {
    case 'accept':
      return trans.__('Answered: %1', title);
    case 'decline':
      return trans.__('Declined: %1', title);
    default:
      return trans.__('Not answered: %1', title);
  }
}
