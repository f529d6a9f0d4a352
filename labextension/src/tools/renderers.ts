// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { ToolCallContent } from '@agentclientprotocol/sdk';
import { DisposableDelegate, type IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';
import { type ComponentType, createElement } from 'react';

import type {
  IToolRenderer,
  IToolRendererProps,
  IToolRenderers
} from '../api/tools';
import type { IChange } from '../changes/changes';
import type { IToolCall } from './call';
import type { IToolItem } from './items';

/** A part of what a call shows, with its place. */
export interface IPart {
  readonly index: number;
  readonly content: ToolCallContent;
}

/** Our own renderers know more of a call than others do. */
export interface IPartsProps extends IToolRendererProps {
  call: IToolCall;
  parts: readonly IPart[];
  /** What its diffs have changed, once they have. */
  changes?: ReadonlyMap<number, IChange>;
  revision: number;
  /** True in a permission card. */
  isAsked: boolean;
  /** Its row; absent in a permission card. */
  item?: IToolItem;
}

/** Draws some parts of a call. */
export interface IPartsRenderer {
  readonly id: string;
  readonly rank: number;
  matches(call: IToolCall): boolean;
  /** If absent, it takes every part, also of a call without any. */
  takes?(part: ToolCallContent): boolean;
  /** Drawn below the others, whatever these are. */
  readonly isExtra?: boolean;
  readonly Component: ComponentType<IPartsProps>;
}

/** Neighbouring parts that one renderer draws. */
export interface ISection {
  readonly renderer: IPartsRenderer;
  readonly parts: readonly IPart[];
}

/** The renderers of tool calls that other extensions have added. */
export class ToolRenderers implements IToolRenderers {
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  add(renderer: IToolRenderer): IDisposable {
    if (this._renderers.some(({ id }) => id === renderer.id)) {
      throw new Error(`There is a tool renderer "${renderer.id}" already.`);
    }
    const added = foreign(renderer);
    this._renderers = [...this._renderers, added];
    this._changed.emit();
    return new DisposableDelegate(() => {
      this._renderers = this._renderers.filter(each => each !== added);
      this._changed.emit();
    });
  }

  /** Divide what a call shows among the renderers, the parts in their order. */
  sections(
    call: IToolCall,
    own: readonly IPartsRenderer[],
    except: ReadonlySet<string>
  ): ISection[] {
    const renderers = [...this._renderers, ...own]
      .sort(byRank)
      .filter(each => !except.has(each.id) && isMatch(each, call));
    const parts = call.content.map((content, index) => ({ index, content }));
    const first = renderers.find(({ isExtra }) => !isExtra);
    const whole = first?.takes ? undefined : first;
    const extra = renderers.filter(({ isExtra }) => isExtra);
    return [
      ...(whole
        ? [{ renderer: whole, parts }]
        : divided(
            parts,
            renderers.filter(({ takes }) => takes)
          )),
      ...extra.map(renderer => ({ renderer, parts: [] }))
    ];
  }

  private _renderers: readonly IPartsRenderer[] = [];
  private readonly _changed = new Signal<this, void>(this);
}

/** A renderer of another extension, which gets a copy: calls change in place. */
function foreign(renderer: IToolRenderer): IPartsRenderer {
  const { id, rank, Component } = renderer;
  return {
    id,
    rank,
    matches: call => renderer.matches(call),
    Component: ({ call: { terminals: _, ...call }, session }) =>
      createElement(Component, { call, session })
  };
}

/** Neighbours go together; a renderer that matches and got nothing comes last. */
function divided(
  parts: readonly IPart[],
  renderers: readonly IPartsRenderer[]
): ISection[] {
  const sections: { renderer: IPartsRenderer; parts: IPart[] }[] = [];
  for (const part of parts) {
    const renderer = renderers.find(each => each.takes!(part.content));
    const last = sections.at(-1);
    if (renderer && last?.renderer === renderer) {
      last.parts.push(part);
    } else if (renderer) {
      sections.push({ renderer, parts: [part] });
    }
  }
  const idle = renderers.filter(
    each => !sections.some(({ renderer }) => renderer === each)
  );
  return [...sections, ...idle.map(renderer => ({ renderer, parts: [] }))];
}

function byRank(one: IPartsRenderer, other: IPartsRenderer): number {
  return one.rank - other.rank;
}

/** One that fails does not match. */
function isMatch(renderer: IPartsRenderer, call: IToolCall): boolean {
  try {
    return renderer.matches(call);
  } catch (error) {
    console.error(
      `jupyter-acp: the tool renderer ${renderer.id} failed`,
      error
    );
    return false;
  }
}
