// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import { Boundary } from '../ui/boundary';
import { useChat } from '../ui/context';
import { Dropped } from '../ui/unreadable';
import { Elicitation } from './elicitation';
import { Permission } from './permission';
import type { IAsking, IPendingRequest } from './request';

const CARD = '.jp-acp-Card';

/** Whether the focus is on something that an agent asks, in a part of the page. */
export function isOnCard(frame: HTMLElement): boolean {
  const card = document.activeElement?.closest(CARD);
  return card instanceof HTMLElement && frame.contains(card);
}

/** Put the focus on the first card, if there is one. */
function focusCard(region: HTMLElement | null): boolean {
  const card = region?.querySelector<HTMLElement>(CARD);
  card?.focus();
  return Boolean(card);
}

interface IRequestsProps {
  model: IAsking;
  isConnected: boolean;
  /** What has the focus when nothing is asked any more. */
  inputRef: React.RefObject<HTMLTextAreaElement>;
}

/**
 * What the agent asks. A card takes no focus when it comes: it is gone to with a
 * command, or when one before it was answered with a key.
 */
export function Requests({
  model,
  isConnected,
  inputRef
}: IRequestsProps): JSX.Element | null {
  const { trans } = useChat();
  const region = React.useRef<HTMLDivElement>(null);
  const { requests, isCardWanted } = model;
  const asked = requests.map(({ id }) => id).join();
  React.useEffect(() => {
    if (isCardWanted && focusCard(region.current)) {
      model.isCardWanted = false;
    }
  }, [model, isCardWanted, asked]);
  // The card that is answered goes, and would take the focus with it.
  const isLeaving = React.useRef(false);
  React.useEffect(() => {
    if (isLeaving.current) {
      isLeaving.current = false;
      if (!focusCard(region.current)) {
        inputRef.current?.focus();
      }
    }
  }, [asked, inputRef]);
  if (requests.length === 0) {
    return null;
  }
  const show = (request: IPendingRequest): JSX.Element =>
    request.question.kind === 'elicitation' ? (
      <Elicitation
        request={request}
        question={request.question}
        isConnected={isConnected}
      />
    ) : (
      <Permission
        request={request}
        question={request.question}
        agent={model.info.agent}
        isConnected={isConnected}
        onKey={() => {
          isLeaving.current = true;
        }}
      />
    );
  return (
    <div
      ref={region}
      className="jp-acp-Requests"
      role="region"
      aria-label={trans.__('The agent waits for you')}
    >
      {requests.map(request => (
        <Boundary
          key={request.id}
          fallback={() => (
            <section className="jp-acp-Card" tabIndex={-1}>
              <p className="jp-acp-Problem" role="alert">
                {trans.__(
                  "The agent's question cannot be shown. Stop the agent to continue."
                )}
              </p>
              <Dropped parts={[request.question]} />
            </section>
          )}
        >
          {show(request)}
        </Boundary>
      ))}
    </div>
  );
}
