// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { type IAnsiStyle, PLAIN, isSame, restyled } from './ansistyle';

/** Text of one looks. */
export interface IAnsiRun {
  text: string;
  readonly style: IAnsiStyle;
}

/** Some lines that are complete. Once it is full, it never changes again. */
export interface IAnsiBlock {
  readonly key: number;
  readonly runs: IAnsiRun[];
  lines: number;
  /** What it counts for in the bound of the whole. */
  size: number;
}

/** Enough to show; a build log must not fill the window's memory. */
const MAX_SIZE = 200_000;
const BLOCK_LINES = 64;
/** A run is an element on the page and weighs more than its letters. */
const RUN_SIZE = 16;
/** Where a line goes on in the next, so that none of them can be endless. */
const MAX_COLUMNS = 1000;

const PRINTABLE = /\P{Cc}+/uy;

type State = 'text' | 'escape' | 'control' | 'string' | 'stringEscape';

/**
 * What a command printed, as a terminal would show it line by line: colours,
 * lines that are drawn again, and nothing of the other codes. Each character
 * is looked at once, and the start of what is too long is forgotten.
 */
export class AnsiText {
  /** The lines that are complete. */
  get blocks(): readonly IAnsiBlock[] {
    return this._blocks;
  }

  /** The line that is being written. */
  get open(): readonly IAnsiRun[] {
    this._open ??= toRuns(this._letters, this._styles);
    return this._open;
  }

  /** Whether the start was forgotten. */
  get isCut(): boolean {
    return this._blocks[0]?.key > 0;
  }

  /** All of it, without its looks. */
  get text(): string {
    const runs = this._blocks.flatMap(block => block.runs);
    return [...runs, ...this.open].map(run => run.text).join('');
  }

  append(chunk: string): void {
    let index = 0;
    while (index < chunk.length) {
      if (this._state === 'text') {
        PRINTABLE.lastIndex = index;
        const printable = PRINTABLE.exec(chunk)?.[0];
        if (printable) {
          this._write(printable);
          index += printable.length;
          continue;
        }
      }
      this._take(chunk[index++]);
    }
  }

  private _take(letter: string): void {
    switch (this._state) {
      case 'text':
        this._control(letter);
        break;
      case 'escape':
        this._escape(letter);
        break;
      case 'control':
        this._controlSequence(letter);
        break;
      case 'string':
        this._string(letter);
        break;
      case 'stringEscape':
        this._state = 'text';
        if (letter !== '\\') {
          this._escape(letter);
        }
        break;
    }
  }

  private _control(letter: string): void {
    switch (letter) {
      case '\n':
        this._endLine('\n');
        break;
      case '\r':
        this._column = 0;
        break;
      case '\b':
        this._column = Math.max(0, this._column - 1);
        break;
      case '\t':
        this._write(letter);
        break;
      case '\x1b':
        this._state = 'escape';
        break;
      case '\x9b':
        this._state = 'control';
        break;
    }
  }

  private _escape(letter: string): void {
    if (letter === '[') {
      this._state = 'control';
      this._parameters = '';
    } else if (']PX^_'.includes(letter)) {
      this._state = 'string';
    } else if (letter < ' ' || letter > '/') {
      this._state = 'text';
      this._control(letter);
    }
  }

  private _controlSequence(letter: string): void {
    if (letter < ' ') {
      // A terminal acts on these in the middle of a sequence, too.
      this._control(letter);
    } else if (letter < '@') {
      this._parameters = (this._parameters + letter).slice(0, 100);
    } else {
      this._state = 'text';
      if (letter === 'm') {
        this._style = restyled(this._style, this._parameters);
      } else if (letter === 'K') {
        this._erase(this._parameters);
      }
      this._parameters = '';
    }
  }

  /** Titles and the like. One that never ends must not swallow the rest. */
  private _string(letter: string): void {
    if (letter === '\x1b') {
      this._state = 'stringEscape';
    } else if (letter === '\n' || letter === '\x07' || letter === '\x9c') {
      this._state = 'text';
      if (letter === '\n') {
        this._control(letter);
      }
    }
  }

  private _write(text: string): void {
    this._open = null;
    for (const letter of text) {
      if (this._column === MAX_COLUMNS) {
        this._endLine('');
      }
      this._letters[this._column] = letter;
      this._styles[this._column] = this._style;
      this._column++;
    }
  }

  private _erase(parameters: string): void {
    this._open = null;
    if (parameters === '' || parameters === '0') {
      this._letters.length = Math.min(this._letters.length, this._column);
    } else if (parameters === '1') {
      const end = Math.min(this._column + 1, this._letters.length);
      this._letters.fill(' ', 0, end);
      this._styles.fill(PLAIN, 0, end);
    } else if (parameters === '2') {
      this._letters.fill(' ', 0, this._column);
      this._styles.fill(PLAIN, 0, this._column);
      this._letters.length = Math.min(this._letters.length, this._column);
    }
    this._styles.length = this._letters.length;
  }

  private _endLine(end: string): void {
    const block = this._block();
    for (const run of this.open) {
      this._add(block, run);
    }
    this._add(block, { text: end, style: block.runs.at(-1)?.style ?? PLAIN });
    block.lines++;
    this._letters.length = this._styles.length = this._column = 0;
    this._open = null;
    while (this._size - this._blocks[0].size > MAX_SIZE) {
      this._size -= this._blocks.shift()!.size;
    }
  }

  private _block(): IAnsiBlock {
    let block = this._blocks.at(-1);
    if (!block || block.lines === BLOCK_LINES) {
      block = { key: this._nextKey++, runs: [], lines: 0, size: 0 };
      this._blocks.push(block);
    }
    return block;
  }

  private _add(block: IAnsiBlock, { text, style }: IAnsiRun): void {
    const last = block.runs.at(-1);
    let size = text.length;
    if (last && isSame(last.style, style)) {
      last.text += text;
    } else {
      block.runs.push({ text, style });
      size += RUN_SIZE;
    }
    block.size += size;
    this._size += size;
  }

  private _state: State = 'text';
  private _style = PLAIN;
  private _parameters = '';
  private _column = 0;
  private _size = 0;
  private _nextKey = 0;
  private _open: IAnsiRun[] | null = null;
  private readonly _letters: string[] = [];
  private readonly _styles: IAnsiStyle[] = [];
  private readonly _blocks: IAnsiBlock[] = [];
}

function toRuns(letters: string[], styles: IAnsiStyle[]): IAnsiRun[] {
  const runs: IAnsiRun[] = [];
  let last: IAnsiRun | undefined;
  letters.forEach((letter, column) => {
    const style = styles[column];
    if (last && isSame(last.style, style)) {
      last.text += letter;
    } else {
      last = { text: letter, style };
      runs.push(last);
    }
  });
  return runs;
}
