// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

/** Lines that may continue the block before a blank line. */
const CONTINUES = /^(\s|[-*+>|]|\d+[.)])/;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;

/** An element that may hold markdown, with blank lines in it, until its end tag. */
const ELEMENT =
  /^ {0,3}<(article|aside|blockquote|center|details|div|dl|fieldset|figure|footer|form|header|main|nav|ol|pre|script|section|style|table|textarea|ul)(?=[\s/>])/i;
const CODE_SPAN = /`[^`]*`/g;

/**
 * Splits growing markdown into blocks that can be rendered each on its own.
 *
 * A finished block never changes again, so that a stream of chunks renders
 * only the open one. Each character is looked at once: the text of the open
 * block is a rope that is read only by whoever renders it. Formulas need no
 * care: in JupyterLab none goes on after a blank line. A link reference
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
    const blank = line.trim() === '';
    if (!blank && this._afterBlank && !this._element && !CONTINUES.test(line)) {
      this._finished.push(this._body);
      this._body = '';
    }
    this._afterBlank = blank && this._body !== '';
    this._fence = fence ?? '';
    this._followElement(line);
    this._body += line;
  }

  private _followElement(line: string): void {
    this._element ||= ELEMENT.exec(line)?.[1] ?? '';
    if (!this._element) {
      return;
    }
    const tags = new RegExp(`<(/?)${this._element}(?=[\\s/>])`, 'gi');
    for (const [, isEnd] of line.replace(CODE_SPAN, '').matchAll(tags)) {
      this._depth += isEnd ? -1 : 1;
    }
    if (this._depth <= 0) {
      this._element = '';
      this._depth = 0;
    }
  }

  private readonly _finished: string[] = [];
  private _body = '';
  private _line = '';
  private _fence = '';
  /** The outermost element that is open, and how many of its name are. */
  private _element = '';
  private _depth = 0;
  private _afterBlank = false;
}
