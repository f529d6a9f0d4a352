// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import js from '@eslint/js';
import jupyter from '@jupyter/eslint-plugin';
import prettier from 'eslint-config-prettier';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  {
    ignores: [
      '**/lib/**',
      '**/dist/**',
      'node_modules/**',
      'coverage/**',
      '**/*.js',
      '**/*.cjs'
    ]
  },
  js.configs.recommended,
  ...tseslint.configs.recommendedTypeChecked,
  { plugins: { jupyter, 'react-hooks': reactHooks } },
  ...jupyter.configs.recommended,
  prettier,
  {
    languageOptions: {
      parserOptions: {
        project: ['tsconfig.json', 'tsconfig.test.json'],
        tsconfigRootDir: import.meta.dirname
      }
    },
    rules: {
      curly: 'error',
      eqeqeq: 'error',
      'prefer-arrow-callback': ['error', { allowNamedFunctions: true }],
      '@typescript-eslint/naming-convention': [
        'error',
        {
          selector: 'interface',
          format: ['PascalCase'],
          custom: { regex: '^I[A-Z]', match: true }
        }
      ],
      // The other rules of this plugin forbid models that change in place.
      'react-hooks/rules-of-hooks': 'error',
      'react-hooks/exhaustive-deps': 'error',
      // Signals bind the receiver themselves.
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/no-namespace': 'off',
      '@typescript-eslint/no-redeclare': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { args: 'none' }]
    }
  },
  {
    files: ['test/**'],
    rules: { 'jupyter/no-untranslated-string': 'off' }
  },
  {
    files: ['*.mjs', 'schema/*.json'],
    ...tseslint.configs.disableTypeChecked
  }
);
