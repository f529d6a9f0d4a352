// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { plain, print } from '../src/model/toolcall';

describe('plain', () => {
  it('removes colours and titles', () => {
    expect(plain('\u001b[1;31mred\u001b[0m \u001b]0;title\u0007done')).toBe(
      'red done'
    );
  });

  it('shows a line as it was last redrawn', () => {
    expect(plain('10%\r50%\r100%\r\nnext\r\n')).toBe('100%\nnext\n');
  });
});

describe('print', () => {
  it('keeps the end of what is too long', () => {
    const terminal = { output: '' };
    for (let count = 0; count < 1000; count++) {
      print(terminal, 'x'.repeat(999) + '\n');
    }
    print(terminal, 'the end');
    expect(terminal.output.length).toBeLessThan(500_000);
    expect(terminal.output.endsWith('the end')).toBe(true);
  });
});
