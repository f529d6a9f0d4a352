// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

/**
 * Shapes of JSON values. Reading a value never throws: it drops the parts that
 * have another shape than the protocol gives them, and keeps the rest.
 */

/** Takes a part that was dropped. */
export type Drop = (part: unknown) => void;

/** Returns a value that has the shape, perhaps without some parts; else undefined. */
export type Shape<T> = (value: unknown, drop: Drop) => T | undefined;

type Shapes<T> = { readonly [K in keyof T]: Shape<T[K]> };

export type Fields = Record<string, unknown>;

export const text: Shape<string> = value =>
  typeof value === 'string' ? value : undefined;

/** A text with at least one character. */
export const name: Shape<string> = value => text(value, ignore) || undefined;

export const flag: Shape<boolean> = value =>
  typeof value === 'boolean' ? value : undefined;

export const amount: Shape<number> = value =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0
    ? value
    : undefined;

export const count: Shape<number> = value =>
  Number.isSafeInteger(value) ? (value as number) : undefined;

/** Any JSON value but null. */
export const anything: Shape<unknown> = value => value ?? undefined;

export const object: Shape<Fields> = value =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : undefined;

export function oneOf<T extends string>(...words: readonly T[]): Shape<T> {
  return value => words.find(word => word === value);
}

/** One of some words, or else a default: later versions may add words. */
export function wordOr<T extends string>(
  fallback: T,
  ...words: readonly T[]
): Shape<T> {
  return value =>
    typeof value === 'string'
      ? (words.find(word => word === value) ?? fallback)
      : undefined;
}

/** Another value where there is none of the shape. */
export function orElse<T>(shape: Shape<T>, fallback: NoInfer<T>): Shape<T> {
  return (value, drop) => shape(value, drop) ?? fallback;
}

/** A list without the elements that have another shape. */
export function list<T>(each: Shape<T>): Shape<T[]> {
  return (value, drop) => {
    if (!Array.isArray(value)) {
      return undefined;
    }
    const found: T[] = [];
    for (const part of value as unknown[]) {
      const element = each(part, drop);
      if (element === undefined) {
        drop(part);
      } else {
        found.push(element);
      }
    }
    return found;
  };
}

/** An object by its keys, without the values that have another shape. */
export function dictionary<T>(each: Shape<T>): Shape<Record<string, T>> {
  return (value, drop) => {
    const given = object(value, drop);
    if (!given) {
      return undefined;
    }
    const found: [string, T][] = [];
    for (const [key, part] of Object.entries(given)) {
      const element = each(part, drop);
      if (element === undefined) {
        drop({ [key]: part });
      } else {
        found.push([key, element]);
      }
    }
    return Object.fromEntries(found);
  };
}

/**
 * An object with some fields. Other fields are left out; optional ones that are
 * null count as absent.
 */
export function fields<R extends object, O extends object = object>(
  required: Shapes<R>,
  optional?: Shapes<O>
): Shape<R & Partial<O>> {
  // Computed once: a session may have many thousands of messages.
  const must = Object.entries<Shape<unknown>>(required);
  const may = Object.entries<Shape<unknown>>(optional ?? {});
  return (value, drop) => {
    const given = object(value, drop);
    if (!given) {
      return undefined;
    }
    const found: Fields = {};
    for (const [key, shape] of must) {
      const part = shape(given[key], drop);
      if (part === undefined) {
        return undefined;
      }
      found[key] = part;
    }
    for (const [key, shape] of may) {
      const told = given[key];
      if (told === undefined || told === null) {
        continue;
      }
      const part = shape(told, drop);
      if (part === undefined) {
        drop({ [key]: told });
      } else {
        found[key] = part;
      }
    }
    return found as R & Partial<O>;
  };
}

/** One of several shapes: the value of a field names which. */
export function tagged<S extends Record<string, Shape<object>>>(
  tag: string,
  shapes: S
): Shape<Shaped<S[keyof S]>> {
  return (value, drop) => {
    const name = object(value, drop)?.[tag];
    // Agents choose the name, and one may choose `constructor`.
    return typeof name === 'string' && Object.hasOwn(shapes, name)
      ? (shapes[name](value, drop) as Shaped<S[keyof S]> | undefined)
      : undefined;
  };
}

/** The values that have a shape. */
export type Shaped<S> = S extends Shape<infer T> ? T : never;

/** The first of some shapes that fits. */
export function anyOf<T>(...shapes: readonly Shape<T>[]): Shape<T> {
  return (value, drop) => {
    for (const shape of shapes) {
      const found = shape(value, drop);
      if (found !== undefined) {
        return found;
      }
    }
    return undefined;
  };
}

/** For parts that are only looked for, and are no mistake if they are not there. */
export function ignore(): void {
  // Nobody is told.
}
