// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { EditorSelection, EditorState } from '@codemirror/state';

import { cursorOf, firstBytes, selectionOf } from '../../src/workspace/editor';

type View = Parameters<typeof cursorOf>[0];

function view(doc: string, anchor: number, head = anchor): View {
  const state = EditorState.create({
    doc,
    selection: EditorSelection.single(anchor, head)
  });
  return { state } as unknown as View;
}

const bytes = (text: string) => new TextEncoder().encode(text).length;

describe('a cursor', () => {
  it('is counted from 0 in lines and UTF-16 units', () => {
    expect(cursorOf(view('one\ntwo 😀!', 10))).toEqual({
      line: 1,
      character: 6
    });
  });

  it('is where the user drags to', () => {
    expect(cursorOf(view('one\ntwo', 6, 1))).toEqual({ line: 0, character: 1 });
  });
});

describe('a selection', () => {
  it('is nothing when empty', () => {
    expect(selectionOf(view('one', 2))).toBeUndefined();
  });

  it('runs forward however it was made', () => {
    expect(selectionOf(view('one\ntwo', 6, 1))).toEqual({
      start: { line: 0, character: 1 },
      end: { line: 1, character: 2 },
      text: 'ne\ntw'
    });
  });

  it('may have 4096 bytes', () => {
    const text = 'x'.repeat(4096);
    const selection = selectionOf(view(text, 0, 4096));
    expect(selection?.text).toBe(text);
    expect(selection).not.toHaveProperty('truncated');
  });

  it.each(['x', 'é', '語', '😀', 'x😀', 'é語'])(
    'of many %s is cut between characters',
    unit => {
      const text = unit.repeat(5000);
      const selection = selectionOf(view(text, 0, text.length));
      expect(selection?.truncated).toBe(true);
      expect(selection?.end.character).toBe(text.length);
      expect(text.startsWith(selection?.text ?? '!')).toBe(true);
      expect(bytes(selection?.text ?? '')).toBeLessThanOrEqual(4096);
      expect(bytes(selection?.text ?? '')).toBeGreaterThan(4092);
    }
  );
});

describe('firstBytes', () => {
  it('never leaves half a surrogate pair', () => {
    expect(firstBytes('a😀', 4)).toEqual({ text: 'a', truncated: true });
    expect(firstBytes('a😀', 5)).toEqual({ text: 'a😀', truncated: false });
    expect(firstBytes('\ud83d!', 9)).toEqual({
      text: '\ufffd!',
      truncated: false
    });
  });
});
