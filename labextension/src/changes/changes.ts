// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { ToolCallContent } from '@agentclientprotocol/sdk';

import { type IFileChange, reviewOf } from './review';

/** What the user wants of a part; absent as long as nothing was decided. */
export type Verdict = 'kept' | 'undone';

export type Decision = 'keep' | 'undo' | 'redo';

/** A change that can be spoken of. */
export interface INamedChange extends IFileChange {
  /** What windows and server call it. */
  readonly key: string;
}

/** A change of a file in a transcript, and what was decided about it. */
export interface IChange extends INamedChange {
  readonly verdicts: ReadonlyMap<string, Verdict>;
}

/** Whether it is one that was made here, and not only one that could be. */
export function isMade(change: INamedChange): change is IChange {
  return 'verdicts' in change;
}

/** A change that the server noted, shown unless a tool call tells of it. */
export interface INotedChange {
  readonly change: IChange;
  isCovered: boolean;
  /** A call of one of our own tools made it, and shows it. */
  isOwned: boolean;
  /** Grows when that changes. */
  revision: number;
}

/** What has to become of a file for a decision to come true. */
export interface IRevision {
  before: string | null;
  after: string | null;
}

const VERDICTS: Record<Decision, Verdict | undefined> = {
  keep: 'kept',
  undo: 'undone',
  redo: undefined
};

/** The changes of one session, by their names. */
export class Changes {
  /** Note a change, or learn that one that is known is another now. */
  note(key: string, file: IFileChange): IChange {
    const known = this._changes.get(key);
    if (
      known &&
      known.path === file.path &&
      known.oldText === file.oldText &&
      known.newText === file.newText
    ) {
      return known;
    }
    const { path, oldText, newText } = file;
    const change: IChange = {
      key,
      path,
      oldText,
      newText,
      verdicts: this._verdictsOf(key)
    };
    this._changes.set(key, change);
    return change;
  }

  get(key: string): IChange | undefined {
    return this._changes.get(key);
  }

  /** Take note of what a user decided, here or elsewhere. */
  decided(key: string, parts: readonly string[], decision: Decision): void {
    const verdicts = this._verdictsOf(key);
    for (const part of parts) {
      const verdict = VERDICTS[decision];
      if (verdict) {
        verdicts.set(part, verdict);
      } else {
        verdicts.delete(part);
      }
    }
  }

  /** The changes that a tool call shows, by their place in its content. */
  ofTool(call: ITellingCall): ReadonlyMap<number, IChange> {
    const changes = new Map<number, IChange>();
    call.content.forEach((part, index) => {
      if (part.type === 'diff') {
        const { path, oldText = null, newText } = part;
        const key = `${call.toolCallId}:${index}`;
        changes.set(index, this.note(key, { path, oldText, newText }));
      }
    });
    return changes;
  }

  private _verdictsOf(key: string): Map<string, Verdict> {
    let verdicts = this._verdicts.get(key);
    if (!verdicts) {
      verdicts = new Map();
      this._verdicts.set(key, verdicts);
    }
    return verdicts;
  }

  private readonly _changes = new Map<string, IChange>();
  private readonly _verdicts = new Map<string, Map<string, Verdict>>();
}

/** A tool call, as far as it tells of changes. */
export interface ITellingCall {
  readonly toolCallId: string;
  readonly status: string;
  readonly content: readonly ToolCallContent[];
}

/** The row of a tool call that tells of changes. */
interface ITelling {
  readonly call: ITellingCall;
  changes: ReadonlyMap<number, IChange>;
  revision: number;
}

/** One file in a turn: what was told of it, and what was noted. */
interface IFileHistory {
  readonly tellers: Set<ITelling>;
  readonly noted: INotedChange[];
  /** Whether somebody tells of what was noted. */
  isCovered: boolean;
  /** Whether it is known that there was a file before. */
  wasThere: boolean;
}

/** What one turn has changed, each change once. */
export class TurnChanges {
  tool(item: ITelling): void {
    for (const path of this._index(item)) {
      this._cover(this._file(path));
    }
  }

  note(noted: INotedChange): void {
    const { path, oldText } = noted.change;
    const file = this._file(path);
    if (oldText !== null && !file.wasThere) {
      file.wasThere = true;
      [...file.tellers].forEach(item => this.tool(item));
    }
    file.noted.push(noted);
    this._noted.push(noted);
    if (file.isCovered) {
      noted.isCovered = true;
      noted.revision++;
    }
  }

  /** Those that were made and not only proposed. */
  made(): IChange[] {
    // Calls that were left alone have ended without a word.
    for (const item of this._told.keys()) {
      this._index(item);
    }
    for (const file of this._files.values()) {
      this._cover(file);
    }
    const told = [...this._told.keys()]
      .filter(({ call }) => call.status === 'completed')
      .flatMap(({ changes }) => [...changes.values()]);
    const others = this._noted.filter(
      noted => noted.isOwned || !noted.isCovered
    );
    return [...told, ...others.map(noted => noted.change)];
  }

  /** Learn which files a call tells of; returns these and those of before. */
  private _index(item: ITelling): Set<string> {
    const before = this._told.get(item) ?? [];
    this._correct(item);
    const now = new Set([...item.changes.values()].map(({ path }) => path));
    if (before.length === 0 && now.size === 0) {
      return now;
    }
    before.forEach(path => this._file(path).tellers.delete(item));
    now.forEach(path => this._file(path).tellers.add(item));
    this._told.set(item, [...now]);
    return new Set([...before, ...now]);
  }

  /** An agent may say that a file is new; who wrote it knows what was there. */
  private _correct(item: ITelling): void {
    const right = [...item.changes].filter(
      ([, { path, oldText }]) => oldText !== null || !this._file(path).wasThere
    );
    if (right.length < item.changes.size) {
      item.changes = new Map(right);
      item.revision++;
    }
  }

  private _cover(file: IFileHistory): void {
    const isCovered = isTold(file);
    if (file.isCovered === isCovered) {
      return;
    }
    file.isCovered = isCovered;
    for (const noted of file.noted) {
      noted.isCovered = isCovered;
      noted.revision++;
    }
  }

  private _file(path: string): IFileHistory {
    let file = this._files.get(path);
    if (!file) {
      file = {
        tellers: new Set(),
        noted: [],
        isCovered: false,
        wasThere: false
      };
      this._files.set(path, file);
    }
    return file;
  }

  /** Which files each call tells of. */
  private readonly _told = new Map<ITelling, readonly string[]>();
  private readonly _noted: INotedChange[] = [];
  private readonly _files = new Map<string, IFileHistory>();
}

function isTold({ tellers }: IFileHistory): boolean {
  for (const { call } of tellers) {
    if (MADE_OR_UNDER_WAY.has(call.status)) {
      return true;
    }
  }
  return false;
}

/** Others failed, or were left alone when their turn ended. */
const MADE_OR_UNDER_WAY = new Set(['pending', 'in_progress', 'completed']);

/** The parts of a change about which something can still be decided. */
export function partsFor(change: IChange, decision: Decision): string[] {
  return reviewOf(change)
    .parts.map(part => part.id)
    .filter(id =>
      decision === 'redo'
        ? change.verdicts.get(id) === 'undone'
        : decision === 'undo'
          ? change.verdicts.get(id) !== 'undone'
          : !change.verdicts.has(id)
    );
}

/** How the file has to change: from what it should be by now. */
export function revisionFor(
  change: IChange,
  parts: readonly string[],
  decision: Decision
): IRevision {
  const review = reviewOf(change);
  const undone = new Set(
    review.parts
      .map(part => part.id)
      .filter(id => change.verdicts.get(id) === 'undone')
  );
  const before = review.revised(undone);
  for (const part of parts) {
    if (decision === 'undo') {
      undone.add(part);
    } else {
      undone.delete(part);
    }
  }
  return { before, after: review.revised(undone) };
}

/** Whether undoing some parts of a change leaves no file. */
export function deletesFile(
  change: IChange,
  parts: readonly string[] = partsFor(change, 'undo')
): boolean {
  const { before, after } = revisionFor(change, parts, 'undo');
  return before !== null && after === null;
}
