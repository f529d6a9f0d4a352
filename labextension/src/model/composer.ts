// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { type ISignal, Signal } from '@lumino/signaling';

import { type Attachment, isSameAttachment } from './attachments';

/** A picture larger than this, in base64, is gone when the page is. */
const MAX_KEPT_IMAGE = 200_000;

/** What a person has prepared to say. */
export interface IComposed {
  readonly text: string;
  readonly attachments: readonly Attachment[];
}

/** What a person is about to say in a session, and has said before. */
export class Composer implements IComposed {
  /** Begin with what was kept of it, if that is still readable. */
  constructor(kept = '') {
    try {
      const { text, attachments } = JSON.parse(kept) as Partial<IComposed>;
      this._text = typeof text === 'string' ? text : '';
      this._attachments = Array.isArray(attachments) ? attachments : [];
    } catch {
      this._text = kept;
    }
  }

  /** Emitted with what to keep of it; nothing if it is empty. */
  get changed(): ISignal<this, string> {
    return this._changed;
  }

  get text(): string {
    return this._text;
  }

  set text(text: string) {
    if (text !== this._text) {
      this._text = text;
      this._emit();
    }
  }

  get attachments(): readonly Attachment[] {
    return this._attachments;
  }

  attach(...attachments: Attachment[]): void {
    const known = this._attachments;
    const fresh = attachments.filter(
      each => !known.some(other => isSameAttachment(each, other))
    );
    if (fresh.length > 0) {
      this._attachments = [...known, ...fresh];
      this._emit();
    }
  }

  detach(attachment: Attachment): void {
    this._attachments = this._attachments.filter(each => each !== attachment);
    this._emit();
  }

  /** Hand over what was prepared, and begin anew. */
  take(): IComposed {
    const composed = { text: this._text, attachments: this._attachments };
    this._text = '';
    this._attachments = [];
    this._emit();
    return composed;
  }

  /** Have it back: it could not be said. What was written since stays, too. */
  giveBack({ text, attachments }: IComposed): void {
    this._text = [text, this._text].filter(Boolean).join('\n');
    this._attachments = [...attachments, ...this._attachments];
    this._emit();
  }

  private _emit(): void {
    const { text } = this;
    // With each letter: large pictures would make typing slow.
    const attachments = this._attachments.filter(
      each => each.type !== 'image' || each.data.length <= MAX_KEPT_IMAGE
    );
    const isEmpty = !text && attachments.length === 0;
    this._changed.emit(isEmpty ? '' : JSON.stringify({ text, attachments }));
  }

  private _text = '';
  private _attachments: readonly Attachment[] = [];
  private readonly _changed = new Signal<this, string>(this);
}

/** Walks through what was said before, and back to what is being written. */
export class PromptHistory {
  constructor(private readonly _said: () => readonly string[]) {}

  /** The one before the shown one; null if there is none. */
  back(current: string): string | null {
    const said = this._said();
    const at = this._at ?? said.length;
    if (at === 0) {
      return null;
    }
    if (this._at === null) {
      this._draft = current;
    }
    this._at = at - 1;
    return said[this._at];
  }

  /** The one after it, or what was being written; null if that is shown. */
  forward(): string | null {
    if (this._at === null) {
      return null;
    }
    const said = this._said();
    this._at = this._at + 1 < said.length ? this._at + 1 : null;
    return this._at === null ? this._draft : said[this._at];
  }

  /** Whether a text is one that was gone back to. */
  isShown(text: string): boolean {
    return this._at !== null && this._said()[this._at] === text;
  }

  /** Something was written or sent: the next step back is from the end. */
  leave(): void {
    this._at = null;
  }

  private _at: number | null = null;
  private _draft = '';
}
