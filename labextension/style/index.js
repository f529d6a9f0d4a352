// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import './base.css';
