// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IChoice, IForm, IProperty } from '../decode/questions';

export type Value = string | number | boolean | string[];

/** What was filled into a form; agents choose the names, `constructor` too. */
export type Values = ReadonlyMap<string, Value>;

/** What can be chosen for a field, if it is not free. */
export function choicesOf(
  schema: { enum?: string[]; oneOf?: IChoice[]; anyOf?: IChoice[] } | undefined
): IChoice[] {
  return (
    schema?.oneOf ??
    schema?.anyOf ??
    schema?.enum?.map(value => ({ const: value })) ??
    []
  );
}

/** Whether any number of choices may be taken. */
export function isSeveral({ type, items }: IProperty): boolean {
  return type === 'array' && choicesOf(items).length > 0;
}

/** How many must be chosen: none in a field that may be left out. */
export function leastOf(
  { minItems }: IProperty,
  isRequired: boolean,
  chosen: number
): number {
  return isRequired ? (minItems ?? 1) : chosen > 0 ? (minItems ?? 0) : 0;
}

/** What a form holds before anybody has touched it. */
export function initialValues({ properties }: IForm): Values {
  const values = new Map<string, Value>();
  for (const [name, property] of Object.entries(properties)) {
    if (property.default !== undefined) {
      values.set(name, property.default);
    } else if (property.type === 'boolean') {
      values.set(name, false);
    }
  }
  return values;
}

/** What is sent: without the fields that were left empty and may be. */
export function contentOf(
  { properties, required }: IForm,
  values: Values
): Record<string, Value> {
  const content: [string, Value][] = [];
  for (const [name, property] of Object.entries(properties)) {
    const value = values.get(name) ?? (isSeveral(property) ? [] : '');
    const isEmpty = Array.isArray(value)
      ? value.length === 0 && !required.includes(name)
      : value === '';
    if (!isEmpty) {
      content.push([name, value]);
    }
  }
  return Object.fromEntries(content);
}
