// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IPermissionOption } from '../../src/decode/questions';
import {
  chosenWords,
  keyOf,
  meaningOf,
  ordered
} from '../../src/requests/options';
import { english } from '../support/helpers';

const option = (name: unknown, kind: string): IPermissionOption =>
  ({ optionId: 'o', name, kind }) as IPermissionOption;
const meaning = (name: unknown, kind: string): string =>
  meaningOf(option(name, kind), english);

describe('what an option means', () => {
  it.each([
    ['Allow', 'allow_once'],
    ['Allow once', 'allow_once'],
    ['Yes, go ahead', 'allow_once'],
    ['APPROVE', 'allow_once'],
    ['Always allow', 'allow_always'],
    ['Always allow edits of notes.md', 'allow_always'],
    ['Reject', 'reject_once'],
    ['No, and tell it what to do instead', 'reject_once'],
    ['Deny', 'reject_once'],
    ['Always reject', 'reject_always'],
    // As agents and this server word it.
    ['Yes, and don’t ask again for edits', 'allow_always'],
    ["Yes, and don't ask again this session", 'allow_always'],
    ['Allow all edits during this session', 'allow_always'],
    ['Yes, allow always', 'allow_always'],
    ['Run', 'allow_once'],
    ['Run everything in this notebook in this session', 'allow_always'],
    ["Don't run", 'reject_once'],
    ['Restart', 'allow_once'],
    ["Don't restart", 'reject_once'],
    ['Interrupt', 'allow_once'],
    ["Don't interrupt", 'reject_once']
  ])('is not said where the name says it: %s', (name, kind) => {
    expect(meaning(name, kind)).toBe('');
  });

  it.each([
    ['Reject', 'allow_once', 'means: allow once'],
    ['No', 'allow_always', 'means: always allow'],
    ['Allow', 'reject_once', 'means: reject'],
    ['Yes', 'reject_always', 'means: always reject'],
    // More than it says, or less.
    ['Allow once', 'allow_always', 'means: always allow'],
    ['Always allow', 'allow_once', 'means: allow once'],
    ['Allow', 'allow_always', 'means: always allow'],
    ['Always allow once', 'allow_always', 'means: always allow'],
    ['Reject', 'reject_always', 'means: always reject'],
    // It begins in one way and goes on in another.
    ['Allow nothing, not even once', 'allow_once', 'means: allow once'],
    ['Yes, reject it', 'allow_once', 'means: allow once'],
    ['No: allow it', 'reject_once', 'means: reject'],
    // Only the beginning of a word, letters of other scripts, or nothing at all.
    ['Allowance', 'allow_once', 'means: allow once'],
    ['Not now', 'allow_once', 'means: allow once'],
    ['Nothing', 'reject_once', 'means: reject'],
    ['\u0410llow', 'allow_once', 'means: allow once'],
    ['Erlauben', 'allow_once', 'means: allow once'],
    ['', 'reject_once', 'means: reject'],
    [undefined, 'allow_once', 'means: allow once'],
    ['Allow', 'anything', 'may allow it'],
    ['Reject', 'constructor', 'may allow it']
  ])('is said where it does not: %s as %s', (name, kind, expected) => {
    expect(meaning(name, kind)).toBe(expected);
  });

  it('is still known after it was chosen', () => {
    const chosen = (name: string, kind: string): string =>
      chosenWords(option(name, kind), english);
    expect(chosen('Reject', 'allow_once')).toBe('Reject (means: allow once)');
    expect(chosen('Reject', 'reject_once')).toBe('Reject');
  });
});

describe('the buttons of a question', () => {
  const options = [
    option('Maybe', 'perhaps'),
    option('No', 'reject_once'),
    option('Always', 'allow_always'),
    option('Yes', 'allow_once'),
    option('Never', 'reject_always'),
    option('Yes, but', 'allow_once')
  ];

  it('are in the same order whatever the agent, and in its order otherwise', () => {
    expect(ordered(options).map(({ name }) => name)).toEqual([
      'Yes',
      'Yes, but',
      'Always',
      'No',
      'Never',
      'Maybe'
    ]);
    expect(options[0].name).toBe('Maybe');
  });

  it('have a key each, if they are the first of their kind', () => {
    const keys = ordered(options).map(each => keyOf(each, ordered(options)));
    expect(keys).toEqual(['y', undefined, 'a', 'n', undefined, undefined]);
    const odd = option('Odd', 'constructor');
    expect(keyOf(odd, [odd])).toBeUndefined();
  });
});
