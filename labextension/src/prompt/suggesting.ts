// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type {
  IPromptProvider,
  IPromptProviders,
  ISuggestion
} from '../api/prompt';
import type { ISession } from '../api/sessions';
import { Registry, within } from './registry';

/** Asks providers what could be meant by a word of a message. */
export class PromptProviders
  extends Registry<IPromptProvider>
  implements IPromptProviders
{
  /**
   * Ask every provider for a trigger; tell the suggestions whenever another one
   * has answered, those of earlier providers first.
   */
  suggest(
    trigger: IPromptProvider['trigger'],
    query: string,
    session: ISession,
    signal: AbortSignal,
    told: (suggestions: readonly ISuggestion[]) => void
  ): void {
    const providers = this.all.filter(each => each.trigger === trigger);
    const found = providers.map((): readonly ISuggestion[] => []);
    providers.forEach((provider, index) => {
      void within(
        provider.id,
        async deadline =>
          (await provider.suggest(query, session, deadline)) ?? [],
        [],
        signal
      ).then(suggestions => {
        if (!signal.aborted) {
          found[index] = suggestions;
          told(found.flat());
        }
      });
    });
  }
}

/** Suggests the commands of the agent. */
export const AGENT_COMMANDS: IPromptProvider = {
  id: 'agent-commands',
  trigger: '/',
  suggest: (query, { commands }) =>
    Promise.resolve(
      commands
        .filter(({ name }) => name.startsWith(query))
        .map(({ name, description, input }) => ({
          name,
          detail: description,
          hint: input?.hint
        }))
    )
};
