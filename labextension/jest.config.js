// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

const tsJest = ['ts-jest', { tsconfig: 'tsconfig.test.json' }];

// What is built there has the name of the package beside it.
const modulePathIgnorePatterns = ['<rootDir>/test/foreign/dist'];

module.exports = {
  testTimeout: 15000,
  projects: [
    {
      displayName: 'models',
      modulePathIgnorePatterns,
      testEnvironment: 'node',
      testMatch: ['<rootDir>/test/**/*.spec.ts'],
      transform: { '^.+\\.tsx?$': tsJest }
    },
    {
      displayName: 'views',
      modulePathIgnorePatterns,
      testEnvironment: 'jsdom',
      testMatch: ['<rootDir>/test/**/*.spec.tsx'],
      setupFiles: ['<rootDir>/test/support/dom.ts'],
      // JupyterLab's packages are modules of ECMAScript, with icons and styles.
      transform: {
        '^.+\\.tsx?$': tsJest,
        '^.+\\.m?js$': [
          'ts-jest',
          {
            tsconfig: { allowJs: true, module: 'commonjs' },
            isolatedModules: true,
            diagnostics: false
          }
        ]
      },
      transformIgnorePatterns: [
        '/node_modules/(?!(@jupyter|@jupyterlab|@microsoft|@codemirror|@lezer|@rjsf|exenv-es6|lib0|nanoid|y-protocols|y-websocket|yjs)/)'
      ],
      moduleNameMapper: {
        '\\.css$': '<rootDir>/test/support/empty.ts',
        '\\.svg$': '<rootDir>/test/support/svg.ts'
      }
    }
  ]
};
