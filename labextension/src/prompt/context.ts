// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import { ContextProviders } from './carrying';
import { PromptProviders } from './suggesting';

/** What is suggested in messages, and what they can carry along. */
export interface IProviders {
  readonly suggestions: PromptProviders;
  readonly contexts: ContextProviders;
}

export const ProvidersContext = React.createContext<IProviders>({
  suggestions: new PromptProviders(),
  contexts: new ContextProviders()
});

export function useProviders(): IProviders {
  return React.useContext(ProvidersContext);
}
