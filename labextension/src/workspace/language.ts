// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { IEditorLanguageRegistry } from '@jupyterlab/codemirror';

const PLAIN_MIME = 'text/plain';

/**
 * The language identifiers of VS Code and LSP, each with the other names that
 * kernels and JupyterLab have for it. A name that is the identifier itself
 * but for its case needs no entry.
 */
const NAMES: Record<string, string[]> = {
  clojure: ['clojurescript', 'edn', 'lein-clojure'],
  coffeescript: ['coffee', 'coffee-script'],
  cpp: ['c++', 'xcpp', 'cling', 'xeus-cling'],
  csharp: ['c#', '.net-csharp', 'polyglot-notebook'],
  css: ['closure stylesheets (gss)'],
  dockerfile: ['docker'],
  fsharp: ['f#', '.net-fsharp', 'ifsharp'],
  go: ['golang', 'gophernotes'],
  html: ['htmlmixed'],
  jade: ['pug'],
  javascript: ['js', 'node', 'nodejs', 'node.js', 'ecmascript', 'ijavascript'],
  javascriptreact: ['jsx'],
  jinja: ['jinja2'],
  json: ['json-ld', 'jsonld'],
  latex: ['stex'],
  lisp: ['common lisp', 'common-lisp', 'commonlisp'],
  makefile: ['make'],
  markdown: ['gfm', 'ipythongfm', 'md'],
  'objective-c': ['objc', 'objectivec', 'objective c'],
  'objective-cpp': ['objective-c++', 'objc++', 'objective c++'],
  perl6: ['raku'],
  plaintext: ['', 'none', 'null', 'plain', 'plain text', 'raw', 'text', 'txt'],
  powershell: ['pwsh', '.net-powershell'],
  properties: ['properties files'],
  proto: ['protobuf'],
  python: ['ipython', 'py', 'pyodide', 'sage', 'sagemath'],
  r: ['ir', 'xr'],
  rust: ['evcxr'],
  shellscript: [
    'bash',
    'fish',
    'ksh',
    'sh',
    'shell',
    'shell script',
    'shell-script',
    'tcsh',
    'zsh'
  ],
  sql: [
    'cql',
    'mariadb sql',
    'ms sql',
    'mysql',
    'plsql',
    'postgresql',
    'sqlite',
    'sqlite3',
    'xsqlite'
  ],
  typescript: ['deno', 'ts', 'tslab'],
  typescriptreact: ['tsx'],
  vb: ['vb.net', 'vbscript', 'visual basic'],
  wat: ['webassembly'],
  webidl: ['web idl'],
  wolfram: ['mathematica', 'wolfram language'],
  yaml: ['yml']
};

const IDS = new Map(
  Object.entries(NAMES).flatMap(([id, names]) =>
    names.map(name => [name, id] as const)
  )
);

/** The identifier by which editors and agents know a language. */
export function languageId(name: string | null | undefined): string {
  const plain = (name ?? '').trim().toLowerCase();
  // A version says nothing about the language: "c++17", "python 3.12".
  const bare = plain.replace(/[\s-]*\d+(\.\d+)*$/, '');
  const id = IDS.get(plain) ?? IDS.get(bare);
  if (id !== undefined) {
    return id;
  }
  return (/^(python|julia)$/.test(bare) ? bare : plain).replace(/\s+/g, '-');
}

/**
 * A file's language: what its name says, unless the user chose another one
 * for its editor, which then has a type that the name does not account for.
 */
export function fileLanguage(
  languages: IEditorLanguageRegistry,
  path: string,
  mimeType?: string
): string {
  if (path.endsWith('.ipynb')) {
    // A notebook that is shown as text; the registry does not know it.
    return 'json';
  }
  const named = languages.findByFileName(path);
  if (!mimeType || mimeType === PLAIN_MIME) {
    return languageId(named?.name);
  }
  const chosen = [named?.mime ?? []].flat().includes(mimeType)
    ? named
    : languages.findByMIME(mimeType);
  return languageId((chosen ?? named)?.name);
}
