// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

/** Lines that may continue the block before a blank line. */
const CONTINUES = /^(\s|[-*+>|]|\d+[.)])/;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;

/**
 * Splits growing markdown into blocks that can be rendered each on its own.
 *
 * A finished block never changes again, so that a stream of chunks renders
 * only the open one. Each character is looked at once: the text of the open
 * block is a rope that is read only by whoever renders it. A link reference
 * defined in another block is the one thing that is lost.
 */
export class MarkdownBlocks {
  /** The blocks that are complete. */
  get finished(): readonly string[] {
    return this._finished;
  }

  /** The block that may still grow; empty when nothing is open. */
  get open(): string {
    return this._body + this._line;
  }

  /** Everything that was appended. */
  get text(): string {
    return this._finished.join('') + this.open;
  }

  append(chunk: string): void {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf('\n', start);
      if (end < 0) {
        this._line += chunk.slice(start);
        return;
      }
      this._endLine(this._line + chunk.slice(start, end + 1));
      this._line = '';
      start = end + 1;
    }
  }

  private _endLine(line: string): void {
    const fence = FENCE.exec(line)?.[1];
    if (this._fence) {
      const closes =
        fence !== undefined &&
        fence.startsWith(this._fence) &&
        line.trim() === fence;
      if (closes) {
        this._fence = '';
      }
      this._body += line;
      return;
    }
    const inMath = this._math;
    if ((line.split('$$').length - 1) % 2 === 1) {
      this._math = !this._math;
    }
    const blank = line.trim() === '';
    if (!blank && !inMath && this._afterBlank && !CONTINUES.test(line)) {
      this._finished.push(this._body);
      this._body = '';
    }
    this._afterBlank = blank && this._body !== '';
    if (fence && !inMath) {
      this._fence = fence;
    }
    this._body += line;
  }

  private readonly _finished: string[] = [];
  private _body = '';
  private _line = '';
  private _fence = '';
  private _math = false;
  private _afterBlank = false;
}
