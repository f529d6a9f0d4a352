// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { UUID } from '@lumino/coreutils';
import { type ISignal, Signal } from '@lumino/signaling';

import type { Attachment } from '../api/attachment';
import { isSameAttachment } from './attachment';

/** A picture larger than this, in base64, is gone when the page is. */
const MAX_KEPT_IMAGE = 200_000;

/** What a person has prepared to say. */
export interface IComposed {
  readonly text: string;
  readonly attachments: readonly Attachment[];
}

/** What was said, by the name that the server knows it by. */
export interface ISent extends IComposed {
  readonly id: string;
}

/** An attachment, and the name in the text on which it depends, if it came from a mention. */
type Mentionable = Attachment & { readonly mention?: string };

/** What a person is about to say in a session, and has just said. */
export class Composer implements IComposed {
  /** Begin with what was kept of it, if that is still readable. */
  constructor(kept = '') {
    try {
      const { text, attachments, sent } = JSON.parse(kept) as Partial<IKept>;
      this._text = typeof text === 'string' ? text : '';
      this._attachments = Array.isArray(attachments) ? attachments : [];
      this._sent = Array.isArray(sent) ? sent : [];
    } catch {
      this._text = kept;
    }
  }

  /** Whether messages carry something along, by the id of its provider; as in the settings, if null. */
  carries(id: string): boolean | null {
    return this._carried.get(id) ?? null;
  }

  setCarried(id: string, isCarried: boolean): void {
    this._carried.set(id, isCarried);
    this._emit();
  }

  /** Another number after each change. */
  get version(): number {
    return this._version;
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get text(): string {
    return this._text;
  }

  set text(text: string) {
    if (text !== this._text) {
      this._text = text;
      this._dropUnmentioned();
      this._emit();
    }
  }

  get attachments(): readonly Attachment[] {
    return this._attachments;
  }

  /** Add attachments that stay whatever the text says. */
  attach(...attachments: Attachment[]): void {
    const known = this._attachments.filter(
      each => !(each.mention && includes(attachments, each))
    );
    const fresh = attachments.filter(each => !includes(known, each));
    if (fresh.length > 0) {
      this._attachments = [...known, ...fresh];
      this._emit();
    }
  }

  /** Add an attachment for as long as the text, which has it by now, has `@name`. */
  mention(name: string, attachment: Attachment): void {
    if (!includes(this._attachments, attachment)) {
      this._attachments = [
        ...this._attachments,
        { ...attachment, mention: name }
      ];
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

  /** What was said and is not known to have arrived. */
  get sent(): readonly ISent[] {
    return this._sent;
  }

  /** Say it; it is kept until it has arrived. */
  send({ text, attachments }: IComposed): ISent {
    const sent = { id: UUID.uuid4(), text, attachments };
    this._sent = [...this._sent, sent];
    this._emit();
    return sent;
  }

  /** It needs to be kept no longer. */
  arrived(id: string): void {
    const left = this._sent.filter(each => each.id !== id);
    if (left.length < this._sent.length) {
      this._sent = left;
      this._emit();
    }
  }

  /** Have it back if it has not arrived: it could not be said. */
  giveBack(id: string): void {
    const found = this._sent.find(each => each.id === id);
    if (found) {
      this._sent = this._sent.filter(each => each !== found);
      this.putBack(found);
    }
  }

  /** Have it once more, behind what came back before. What was written since stays, too. */
  putBack({ text, attachments }: IComposed): void {
    const before = this._text.startsWith(this._returned) ? this._returned : '';
    const since = this._text.slice(before.length).replace(/^\n/, '');
    this._returned = [before, text].filter(Boolean).join('\n');
    this._text = [this._returned, since].filter(Boolean).join('\n');
    this._attachments = [...attachments, ...this._attachments];
    this._emit();
  }

  /** The draft as the next page can read it; empty if there is nothing to keep. */
  serialized(): string {
    const { text, attachments } = kept(this);
    const sent = this._sent.map(each => ({ ...each, ...kept(each) }));
    const isEmpty = !text && attachments.length === 0 && sent.length === 0;
    return isEmpty ? '' : JSON.stringify({ text, attachments, sent });
  }

  private _dropUnmentioned(): void {
    this._attachments = this._attachments.filter(
      ({ mention }) => !mention || mentions(this._text, mention)
    );
  }

  private _emit(): void {
    this._version++;
    this._changed.emit();
  }

  private _text = '';
  /** The part of it that had been sent before and came back. */
  private _returned = '';
  private _attachments: readonly Mentionable[] = [];
  private _sent: readonly ISent[] = [];
  private _version = 0;
  private readonly _carried = new Map<string, boolean>();
  private readonly _changed = new Signal<this, void>(this);
}

function includes(known: readonly Attachment[], wanted: Attachment): boolean {
  return known.some(each => isSameAttachment(each, wanted));
}

/** Whether a text has `@name`, and not only a longer name that begins alike. */
function mentions(text: string, name: string): boolean {
  const [, ...rests] = text.split(`@${name}`);
  return rests.some(rest => !/^[.-]*\w/.test(rest));
}

interface IKept extends IComposed {
  readonly sent: readonly ISent[];
}

/** What of it outlives the page: without large pictures, for which there is no room. */
function kept({ text, attachments }: IComposed): IComposed {
  return {
    text,
    attachments: attachments.filter(
      each => each.type !== 'image' || each.data.length <= MAX_KEPT_IMAGE
    )
  };
}

/** Walks through what was said before; only from an empty prompt, so that nothing is lost. */
export class PromptHistory {
  constructor(private readonly _said: () => readonly string[]) {}

  /** The one before the shown one; null if there is none. */
  back(): string | null {
    const said = this._said();
    const at = this._at ?? said.length;
    if (at === 0) {
      return null;
    }
    this._at = at - 1;
    return said[this._at];
  }

  /** The one after it, or nothing behind the last; null if none is shown. */
  forward(): string | null {
    if (this._at === null) {
      return null;
    }
    const said = this._said();
    this._at = this._at + 1 < said.length ? this._at + 1 : null;
    return this._at === null ? '' : said[this._at];
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
}
