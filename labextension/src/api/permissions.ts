// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Token } from '@lumino/coreutils';

/** What the user lets agents do without being asked, or never. */
export interface IPermissionRules {
  /** Keep an answer that was meant to last. */
  add(rule: IPermissionRules.IRule): Promise<void>;
}

export namespace IPermissionRules {
  export interface IRule {
    agent: string;
    kind: string;
    match: string;
    decision: 'allow' | 'ask' | 'deny';
  }
}

export const IPermissionRules = new Token<IPermissionRules>(
  'jupyter-acp-bridge:IPermissionRules',
  'The rules for what agents may do.'
);
