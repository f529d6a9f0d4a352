// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { Attachment } from '../api/attachment';
import type {
  IContextOffer,
  IContextProvider,
  IContextProviders
} from '../api/prompt';
import type { ISession } from '../api/sessions';
import { Registry, within } from './registry';

/** The provider of what the user has open, which the server itself adds to a message. */
export const EDITOR_CONTEXT = 'editor';

/** Knows what messages can carry along. */
export class ContextProviders
  extends Registry<IContextProvider>
  implements IContextProviders
{
  /** What goes with a message that is sent now, from the providers that are on. */
  async attachments(
    session: ISession,
    isOn: (id: string) => boolean
  ): Promise<Attachment[]> {
    const wanted = this.all.filter(
      provider => isOn(provider.id) && offerOf(provider, session) !== null
    );
    const found = await Promise.all(
      wanted.map(provider =>
        within<readonly Attachment[]>(
          provider.id,
          async signal => (await provider.attachments(session, signal)) ?? [],
          []
        )
      )
    );
    return found.flat();
  }
}

/** What a provider offers; nothing if it fails. */
export function offerOf(
  provider: IContextProvider,
  session: ISession
): IContextOffer | null {
  try {
    return provider.offer(session) ?? null;
  } catch (error) {
    console.warn(`jupyter-acp: the provider ${provider.id} failed`, error);
    return null;
  }
}
