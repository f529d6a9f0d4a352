// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

/** What agents report besides what they say, brought into one shape. */

import {
  type ContentBlock,
  type ISessionUpdate,
  type IUsage,
  Method,
  ourMeta
} from '../protocol';
import type { INoticeItem } from './items';

/** A notice; some agents have other names for its parts. */
export function toNotice(
  update: Record<string, unknown>
): Omit<INoticeItem, 'key' | 'revision'> {
  const { severity, level, title, message, text, description } = update;
  const content = update.content as ContentBlock | undefined;
  const texts = [title, message, text, content?.type === 'text' && content.text]
    .concat(description)
    .filter((each): each is string => typeof each === 'string' && each !== '');
  const found = severity ?? level;
  return {
    kind: 'notice',
    level: found === 'warning' || found === 'error' ? found : 'info',
    text: texts[0] ?? '',
    detail: texts.slice(1).join('\n'),
    ...(update.offer === Method.reload ? { offer: 'reload' } : {})
  };
}

/** How full the agent's memory is, unless the numbers make no sense. */
export function toUsage(update: ISessionUpdate): IUsage | null {
  const { used, size } = update;
  if (!isAmount(used) || !isAmount(size) || size === 0) {
    return null;
  }
  const cost = update.cost as Partial<IUsage['cost']> | null | undefined;
  const { unit } = ourMeta<{ unit: string }>(update);
  return {
    used,
    size,
    ...(isAmount(cost?.amount) && typeof cost.currency === 'string'
      ? { cost: { amount: cost.amount, currency: cost.currency } }
      : {}),
    ...(unit ? { unit } : {})
  };
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
