// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IEditorLanguageRegistry } from '@jupyterlab/codemirror';

import { fileLanguage, languageId } from '../../src/workspace/language';

describe('languageId', () => {
  const names: [string | null | undefined, string][] = [
    // What kernels call themselves.
    ['python', 'python'],
    ['ipython', 'python'],
    ['IPython', 'python'],
    ['ipython3', 'python'],
    ['python3', 'python'],
    ['Python 3.12', 'python'],
    ['sagemath', 'python'],
    ['R', 'r'],
    ['julia', 'julia'],
    ['Julia 1.11', 'julia'],
    ['bash', 'shellscript'],
    ['zsh', 'shellscript'],
    ['sh', 'shellscript'],
    ['C', 'c'],
    ['c++', 'cpp'],
    ['C++', 'cpp'],
    ['c++17', 'cpp'],
    ['C++ 20', 'cpp'],
    ['xcpp17', 'cpp'],
    ['js', 'javascript'],
    ['node', 'javascript'],
    ['javascript', 'javascript'],
    ['ts', 'typescript'],
    ['tslab', 'typescript'],
    ['typescript', 'typescript'],
    ['C#', 'csharp'],
    ['.net-csharp', 'csharp'],
    ['F#', 'fsharp'],
    ['.net-powershell', 'powershell'],
    ['go', 'go'],
    ['Rust', 'rust'],
    ['scala', 'scala'],
    ['Wolfram Language', 'wolfram'],
    ['raku', 'perl6'],
    // What JupyterLab calls files.
    ['Javascript', 'javascript'],
    ['JSX', 'javascriptreact'],
    ['TSX', 'typescriptreact'],
    ['TypeScript', 'typescript'],
    ['Shell', 'shellscript'],
    ['gfm', 'markdown'],
    ['ipythongfm', 'markdown'],
    ['Markdown', 'markdown'],
    ['Objective-C', 'objective-c'],
    ['Objective-C++', 'objective-cpp'],
    ['PostgreSQL', 'sql'],
    ['MS SQL', 'sql'],
    ['sTeX', 'latex'],
    ['LaTeX', 'latex'],
    ['Dockerfile', 'dockerfile'],
    ['Properties files', 'properties'],
    ['Common Lisp', 'lisp'],
    ['VB.NET', 'vb'],
    ['Z80', 'z80'],
    ['HXML', 'hxml'],
    ['YAML', 'yaml'],
    ['Tiki wiki', 'tiki-wiki'],
    // What is no language.
    ['Plain Text', 'plaintext'],
    ['plain', 'plaintext'],
    ['text', 'plaintext'],
    ['none', 'plaintext'],
    ['', 'plaintext'],
    [undefined, 'plaintext'],
    [null, 'plaintext']
  ];

  it.each(names)('calls %p %s', (name, id) => {
    expect(languageId(name)).toBe(id);
  });

  it('leaves its own identifiers as they are', () => {
    for (const [, id] of names) {
      expect(languageId(id)).toBe(id);
    }
  });
});

describe('fileLanguage', () => {
  const python = { name: 'Python', mime: 'text/x-python' };
  const xml = { name: 'XML', mime: ['application/xml', 'text/xml'] };
  const languages = {
    findByFileName: (path: string) =>
      path.endsWith('.py') ? python : path.endsWith('.xml') ? xml : null,
    findByMIME: (mime: string) =>
      mime === 'text/x-rsrc' ? { name: 'R', mime } : null
  } as unknown as IEditorLanguageRegistry;

  it.each([
    ['a.py', undefined, 'python'],
    ['a.py', 'text/plain', 'python'],
    ['a.py', 'text/x-python', 'python'],
    ['a.py', 'text/x-rsrc', 'r'],
    ['a.py', 'text/x-nothing', 'python'],
    ['a.xml', 'text/xml', 'xml'],
    ['README', undefined, 'plaintext'],
    ['README', 'text/x-rsrc', 'r'],
    ['a.ipynb', 'text/plain', 'json']
  ])('%s of type %p is %s', (path, mime, id) => {
    expect(fileLanguage(languages, path, mime)).toBe(id);
  });
});
