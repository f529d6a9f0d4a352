// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

/** Styles have no effect in tests. */
export {};
