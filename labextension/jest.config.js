// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

module.exports = {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/test/**/*.spec.ts'],
  transform: {
    '^.+\\.tsx?$': ['ts-jest', { tsconfig: 'tsconfig.test.json' }]
  },
  testTimeout: 15000
};
