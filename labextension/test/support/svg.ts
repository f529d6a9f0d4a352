// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

/** Icons look alike in tests. */
export default '<svg xmlns="http://www.w3.org/2000/svg"></svg>';
