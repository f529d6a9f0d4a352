// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { TranslationBundle } from '@jupyterlab/translation';

import type { IPermissionOption } from '../protocol';

const YES = ['allow', 'allowed', 'approve', 'accept', 'yes'];
const NO = [
  'cancel',
  'decline',
  'deny',
  'disallow',
  "don't",
  'don’t',
  'forbid',
  'never',
  'no',
  'not',
  'refuse',
  'reject',
  'stop'
];

/**
 * What an option does, in our own words; empty if its name says that clearly.
 * Agents choose the names, and one may call a yes "Reject".
 */
export function meaningOf(
  { name, kind }: IPermissionOption,
  trans: TranslationBundle
): string {
  const words =
    String(name)
      .toLowerCase()
      .match(/[\p{L}\p{M}'’]+/gu) ?? [];
  const [first = '', second = ''] = words;
  const has = (some: string[]): boolean =>
    words.some(word => some.includes(word));
  const isOnce = !has(['always', 'never']);
  const isAlways = first === 'always' && !has(['once']);
  switch (kind) {
    case 'allow_once':
      return isOnce && YES.includes(first) && !has(NO)
        ? ''
        : trans.__('means: allow once');
    case 'allow_always':
      return isAlways && YES.includes(second) && !has(NO)
        ? ''
        : trans.__('means: always allow');
    case 'reject_once':
      return isOnce && NO.includes(first) && !has(YES)
        ? ''
        : trans.__('means: reject');
    case 'reject_always':
      return isAlways && NO.includes(second) && !has(YES)
        ? ''
        : trans.__('means: always reject');
    default:
      return trans.__('may allow it');
  }
}

/** An option as it was chosen: its name, and what it meant where that is not clear. */
export function chosenWords(
  option: IPermissionOption,
  trans: TranslationBundle
): string {
  const meaning = meaningOf(option, trans);
  return meaning ? trans.__('%1 (%2)', option.name, meaning) : option.name;
}
