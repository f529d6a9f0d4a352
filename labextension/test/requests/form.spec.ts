// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IForm, IProperty } from '../../src/decode/questions';
import {
  type Value,
  contentOf,
  initialValues,
  isSeveral,
  leastOf
} from '../../src/requests/form';

const colours: IProperty = {
  type: 'array',
  minItems: 2,
  items: { enum: ['red', 'green'] }
};

const filled = (
  given: Partial<IForm>,
  values: Record<string, Value> = {}
): Record<string, Value> => {
  const form = { properties: {}, required: [], ...given };
  return contentOf(
    form,
    new Map([...initialValues(form), ...Object.entries(values)])
  );
};

describe('a form', () => {
  it('leaves out what is empty and may be', () => {
    const properties: IForm['properties'] = {
      name: { type: 'string' },
      share: { type: 'number', default: 0 },
      sure: { type: 'boolean' },
      colours
    };
    expect(filled({ properties })).toEqual({ share: 0, sure: false });
    expect(
      filled({ properties }, { name: '', share: '', colours: [] })
    ).toEqual({ sure: false });
    expect(filled({ properties }, { colours: ['red'] })).toMatchObject({
      colours: ['red']
    });
  });

  it('sends an empty list where one is required', () => {
    const properties = { colours: { ...colours, minItems: 0 } };
    expect(filled({ properties, required: ['colours'] })).toEqual({
      colours: []
    });
  });

  it('knows no fields but its own', () => {
    const properties = { constructor: { type: 'string' as const } };
    expect(filled({ properties })).toEqual({});
  });

  it('wants nothing chosen where nothing needs to be', () => {
    expect(leastOf(colours, false, 0)).toBe(0);
    expect(leastOf(colours, false, 1)).toBe(2);
    expect(leastOf(colours, true, 0)).toBe(2);
    const any = { ...colours, minItems: undefined };
    expect(leastOf(any, false, 1)).toBe(0);
    expect(leastOf(any, true, 0)).toBe(1);
    expect(leastOf({ ...any, minItems: 0 }, true, 0)).toBe(0);
  });

  it('takes a list without choices for a text', () => {
    expect(isSeveral(colours)).toBe(true);
    expect(isSeveral({ type: 'array' })).toBe(false);
  });
});
