// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { TranslationBundle } from '@jupyterlab/translation';
import { Button, closeIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import type { Attachment } from '../api/attachment';
import type { IActiveContext } from '../api/mentions';
import { useChat } from '../ui/context';
import { useFrameUpdates } from '../ui/hooks';
import { Visible } from '../ui/visible';
import type { IPromptSession } from './session';

interface IAttachmentsProps {
  model: IPromptSession;
  /** Whether the agent is told where the user is. */
  sharesContext: boolean;
  onShareContext: (shares: boolean) => void;
}

/** What goes with the prompt, each with the way to leave it out. */
export function Attachments({
  model,
  sharesContext,
  onShareContext
}: IAttachmentsProps): JSX.Element | null {
  const { context, trans } = useChat();
  useFrameUpdates(context?.changed ?? null);
  // Nothing that is open here is told elsewhere.
  const active = model.isRemote ? null : context?.active();
  const { attachments } = model.composer;
  if (!active && attachments.length === 0) {
    return null;
  }
  return (
    <ul
      className="jp-acp-Attachments"
      aria-label={trans.__('Context and attachments')}
    >
      {active && (
        <li>
          <button
            type="button"
            className="jp-acp-Attachment jp-acp-mod-context"
            role="switch"
            aria-checked={sharesContext}
            title={
              sharesContext
                ? toldWords(active, trans)
                : trans.__(
                    'The editor context is not sent. Click to send it with the message.'
                  )
            }
            onClick={() => onShareContext(!sharesContext)}
          >
            {active.label}
          </button>
        </li>
      )}
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

function toldWords({ told }: IActiveContext, trans: TranslationBundle): string {
  if (!told.documents) {
    return trans.__(
      'The editor context (cursor) is sent with the message. Click to stop sending it.'
    );
  }
  return told.place
    ? trans.__(
        'The editor context (cursor, open documents) is sent with the message. Click to stop sending it.'
      )
    : trans.__(
        'The editor context (open documents) is sent with the message. Click to stop sending it.'
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
