// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IEditorLanguageRegistry } from '@jupyterlab/codemirror';

import { inertParser } from '../../src/ui/parser';

const LANGUAGES = {
  findByName: (name: string) =>
    ['python', 'mermaid'].includes(name.toLowerCase()) ? { name } : null
} as unknown as IEditorLanguageRegistry;

/** What a parser is given of a text, and what it is then taken to have said. */
async function parsed(source: string): Promise<{ given: string; got: string }> {
  let given = '';
  const usual = {
    render: (text: string) => {
      given = text;
      return Promise.resolve(`<p>${text}</p>`);
    }
  };
  const got = await inertParser(usual, LANGUAGES)!.render(source);
  return { given, got };
}

describe('the parser of what agents say', () => {
  it.each([
    '```mermaid',
    '~~~mermaid',
    '`````` mermaid',
    '``` \u00a0mermaid\t ',
    '```mermaid\u2028',
    '```MERMAID',
    '```mermaid {#id}',
    '```{mermaid}',
    '```vega-lite',
    '   ```mermaid',
    '> ```mermaid',
    '- [ ] 1. > ~~~mermaid'
  ])('is not told of what it would draw: %j', async fence => {
    const source = `text\n\n${fence}\nA --> B\n`;
    const { given, got } = await parsed(source);
    expect(given).toMatch(/[`~]{3,}\s*\S+-[\da-f-]{36}(\s|$)/m);
    expect(given).not.toMatch(/[`~\s]mermaid(\s|$)/i);
    expect(got).toBe(`<p>${source}</p>`);
  });

  it.each([
    '```python\nx\n```',
    '~~~~ Python\nx\n~~~~',
    '```\nx\n```\n\n~~~~\n\n~~~~',
    'some `mermaid`, and ```mermaid```',
    '| ```mermaid``` |\n| --- |',
    'text'
  ])('is told of everything else as it is: %j', async source => {
    expect((await parsed(source)).given).toBe(source);
  });

  // Anything but linear work would take longer than a test may.
  it('takes linear time', async () => {
    for (const part of ['`', '~', '``` ', '~~~ ', '```a', '~~~\t']) {
      const source = `${part.repeat(400_000)}\`x\``;
      expect((await parsed(source)).given.length).toBeGreaterThan(400_000);
    }
  });

  it('is none where there is none', () => {
    expect(inertParser(null, LANGUAGES)).toBeNull();
  });
});
