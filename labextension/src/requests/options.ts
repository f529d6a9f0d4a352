// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { TranslationBundle } from '@jupyterlab/translation';

import type { IPermissionOption } from '../decode/questions';

const YES = ['allow', 'allowed', 'approve', 'accept', 'yes'];
/** These say yes to something that is named after them. */
const GO = ['continue', 'interrupt', 'proceed', 'restart', 'run', 'trust'];
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
/** Of these, a yes that is named after them leaves nothing. */
const NONE = ['none', 'nothing'];
/** These say that an answer is for more than what is asked now. */
const LASTING = [
  'all',
  'always',
  'any',
  'every',
  'everything',
  'forever',
  'never',
  'remember',
  'session'
];
/** Not to be asked again is no refusal, and lasts. */
const UNASKED = /\b(?:don['’]?t|do not|never|without)\s+ask(?:ing)?\b/gu;

const RANKS: readonly string[] = [
  'allow_once',
  'allow_always',
  'reject_once',
  'reject_always'
];

/** What may be done first, what may not last; the agent's order among the same. */
export function ordered(
  options: readonly IPermissionOption[]
): IPermissionOption[] {
  const rank = ({ kind }: IPermissionOption): number =>
    RANKS.includes(kind) ? RANKS.indexOf(kind) : RANKS.length;
  return [...options].sort((one, other) => rank(one) - rank(other));
}

/** Which key chooses an option, if it is the first of its kind. */
export function keyOf(
  option: IPermissionOption,
  options: readonly IPermissionOption[]
): string | undefined {
  const isFirst = options.find(({ kind }) => kind === option.kind) === option;
  return isFirst ? KEYS.get(option.kind) : undefined;
}

/** A map, for agents choose the kind, and one may choose `constructor`. */
const KEYS = new Map<string, string>([
  ['allow_once', 'y'],
  ['allow_always', 'a'],
  ['reject_once', 'n']
]);

/**
 * What an option does, in our own words; empty if its name does not mislead
 * about that. Agents choose the names, and one may call a yes "Reject".
 */
export function meaningOf(
  { name, kind }: IPermissionOption,
  trans: TranslationBundle
): string {
  const text = String(name).toLowerCase();
  const words =
    text.replace(UNASKED, ' always ').match(/[\p{L}\p{M}'’]+/gu) ?? [];
  const [first = '', second = ''] = words;
  const has = (some: string[]): boolean =>
    words.some(word => some.includes(word));
  const [start, isNamed] = first === 'always' ? [second, true] : [first, false];
  const isYes = [...YES, ...GO].includes(start) && !has([...NO, ...NONE]);
  const isNo = NO.includes(start) && !has(YES);
  const isLasting = !has(['once']) && (isNamed || has(LASTING));
  switch (kind) {
    case 'allow_once':
      return isYes && !isLasting ? '' : trans.__('means: allow once');
    case 'allow_always':
      return isYes && isLasting ? '' : trans.__('means: always allow');
    case 'reject_once':
      return isNo && !isLasting ? '' : trans.__('means: reject');
    case 'reject_always':
      return isNo && isLasting ? '' : trans.__('means: always reject');
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
