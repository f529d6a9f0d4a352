// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Button, closeIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import type { Attachment } from '../api/attachment';
import type { IContextProvider } from '../api/prompt';
import { useChat } from '../ui/context';
import { useFrameUpdates } from '../ui/hooks';
import { Visible } from '../ui/visible';
import { offerOf } from './carrying';
import { useProviders } from './context';
import type { IPromptSession } from './session';

interface IAttachmentsProps {
  model: IPromptSession;
}

/** What goes with the message, each with the way to leave it out. */
export function Attachments({ model }: IAttachmentsProps): JSX.Element | null {
  const { trans } = useChat();
  const { contexts } = useProviders();
  useFrameUpdates(contexts.changed);
  const { composer } = model;
  const { attachments } = composer;
  if (contexts.all.length === 0 && attachments.length === 0) {
    return null;
  }
  return (
    <ul
      className="jp-acp-Attachments"
      aria-label={trans.__('Context and attachments')}
    >
      {contexts.all.map(provider => (
        <Offer key={provider.id} provider={provider} model={model} />
      ))}
      {attachments.map((attachment, index) => (
        <li key={index} className="jp-acp-Attachment">
          {attachment.type === 'image' && (
            <img
              className="jp-acp-Attachment-image"
              src={`data:${attachment.mimeType};base64,${attachment.data}`}
              alt=""
            />
          )}
          <span title={attachment.name}>
            <Visible text={attachment.name} />
          </span>
          <Button
            minimal
            small
            className="jp-acp-Action"
            title={trans.__('Remove')}
            aria-label={trans.__('Remove %1', attachment.name)}
            onClick={() => model.composer.detach(attachment)}
          >
            <closeIcon.react tag="span" />
          </Button>
        </li>
      ))}
    </ul>
  );
}

interface IOfferProps {
  provider: IContextProvider;
  model: IPromptSession;
}

/** A switch for something that messages can carry along. */
function Offer({ provider, model }: IOfferProps): JSX.Element | null {
  const { trans } = useChat();
  useFrameUpdates(provider.changed);
  const offer = offerOf(provider, model);
  if (!offer) {
    return null;
  }
  const isOn = model.carries(provider.id);
  return (
    <li>
      <button
        type="button"
        className="jp-acp-Attachment jp-acp-mod-context"
        role="switch"
        aria-checked={isOn}
        title={
          isOn
            ? trans.__('%1 Click to stop sending it.', offer.title)
            : trans.__('This is not sent. Click to send it with the message.')
        }
        onClick={() => model.composer.setCarried(provider.id, !isOn)}
      >
        <Visible text={offer.label} />
      </button>
    </li>
  );
}

interface IAttachmentNamesProps {
  attachments: readonly Attachment[];
}

/** What went with a message that is still on its way. */
export function AttachmentNames({
  attachments
}: IAttachmentNamesProps): JSX.Element {
  return (
    <>
      {attachments.map((attachment, index) => (
        <span key={index} className="jp-acp-Chip">
          <Visible text={attachment.name} />
        </span>
      ))}
    </>
  );
}
