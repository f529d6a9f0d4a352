// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { type ISignal, Signal } from '@lumino/signaling';

/** The parts of the page in which a title can be changed. */
export type TitlePlace = 'row' | 'header';

/** Which session's title is being changed, and where. */
export class Renaming {
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  isAt(id: string, place: TitlePlace): boolean {
    return this._id === id && this._place === place;
  }

  begin(id: string, place: TitlePlace): void {
    this._id = id;
    this._place = place;
    this._changed.emit();
  }

  /** End it, if it is still going on there. */
  end(id: string, place: TitlePlace): void {
    if (this.isAt(id, place)) {
      this._id = null;
      this._changed.emit();
    }
  }

  private _id: string | null = null;
  private _place: TitlePlace = 'header';
  private readonly _changed = new Signal<this, void>(this);
}
