// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import {
  type IElicitationParams,
  type IPermissionParams,
  Method,
  type PermissionOutcome
} from '../protocol';
import { requestWords } from '../tools/owntools';
import { useChat } from '../ui/context';
import type { IAnswerItem } from './items';
import { chosenWords } from './options';

/** How a question of the agent was answered, here or elsewhere. */
export function Answer({ item }: { item: IAnswerItem }): JSX.Element {
  const { trans } = useChat();
  return (
    <p className="jp-acp-Notice jp-acp-mod-answer">
      {item.method === Method.requestPermission
        ? permissionWords(item, trans)
        : elicitationWords(item, trans)}
    </p>
  );
}

type Trans = ReturnType<typeof useChat>['trans'];

function permissionWords(item: IAnswerItem, trans: Trans): string {
  const params = item.params as Partial<IPermissionParams> | undefined;
  const outcome = unwrap<PermissionOutcome>(item.outcome);
  const title = requestWords(params, trans) || trans.__('Permission');
  if (outcome?.outcome !== 'selected') {
    return trans.__('Not answered: %1', title);
  }
  const option = params?.options?.find(
    each => each.optionId === outcome.optionId
  );
  const chosen = option ? chosenWords(option, trans) : outcome.optionId;
  return trans.__('%1: %2', chosen, title);
}

function elicitationWords(item: IAnswerItem, trans: Trans): string {
  const params = item.params as Partial<IElicitationParams> | undefined;
  const action = (item.outcome as { action?: string } | undefined)?.action;
  const message = params?.message || trans.__('Question');
  switch (action) {
    case 'accept':
      return trans.__('Answered: %1', message);
    case 'decline':
      return trans.__('Declined: %1', message);
    default:
      return trans.__('Not answered: %1', message);
  }
}

/** The outcome itself, whether or not it comes in the answer's envelope. */
function unwrap<T extends { outcome: string }>(value: unknown): T | undefined {
  const inner = (value as { outcome?: unknown } | undefined)?.outcome;
  return (typeof inner === 'object' ? inner : value) as T | undefined;
}
