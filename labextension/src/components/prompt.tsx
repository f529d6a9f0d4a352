// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { stopIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import { sendIcon } from '../icons';
import type { SessionModel } from '../model/session';
import { CommandList, useCommandCompletion } from './commands';
import { useChat } from './context';

interface IPromptProps {
  model: SessionModel;
  isBusy: boolean;
  isConnected: boolean;
  /** Settings of the session, shown next to the send button. */
  children?: React.ReactNode;
}

/** Where the person writes. The draft lives in the model and outlives this. */
export const Prompt = React.forwardRef<HTMLTextAreaElement, IPromptProps>(
  function Prompt({ model, isBusy, isConnected, children }, ref): JSX.Element {
    const { trans } = useChat();
    const draft = useDraft(model);
    const listId = React.useId();
    const completion = useCommandCompletion(
      model.transcript.commands,
      draft,
      text => {
        model.draft = text;
      }
    );
    const hasList = completion.matches.length > 0;
    const canSend = draft.trim() !== '' && isConnected;

    const send = () => {
      if (canSend) {
        model.draft = '';
        void model.prompt(draft.trim());
      }
    };
    const onKeyDown = (event: React.KeyboardEvent) => {
      // Enter that ends the composition of a character must not send.
      if (event.nativeEvent.isComposing) {
        return;
      }
      if (completion.onKeyDown(event)) {
        event.preventDefault();
        event.stopPropagation();
      } else if (event.key === 'Enter' && !event.shiftKey) {
        event.preventDefault();
        send();
      } else if (event.key === 'Escape' && isBusy) {
        event.preventDefault();
        event.stopPropagation();
        model.cancel();
      }
    };
    return (
      <div className="jp-acp-Prompt">
        {hasList && <CommandList id={listId} completion={completion} />}
        <textarea
          ref={ref}
          className="jp-acp-Prompt-input"
          rows={1}
          value={draft}
          placeholder={
            isBusy
              ? trans.__('Write what to do next')
              : trans.__('Ask the agent, / for commands')
          }
          aria-label={trans.__('Message to the agent')}
          aria-autocomplete="list"
          aria-controls={hasList ? listId : undefined}
          aria-activedescendant={
            hasList ? `${listId}-${completion.selected}` : undefined
          }
          data-lm-suppress-shortcuts="true"
          onChange={event => {
            model.draft = event.target.value;
          }}
          onKeyDown={onKeyDown}
        />
        <div className="jp-acp-Prompt-bar">
          <div className="jp-acp-Prompt-settings">{children}</div>
          {isBusy && (
            <button
              type="button"
              className="jp-acp-Prompt-button jp-acp-mod-stop"
              title={trans.__('Stop (Esc)')}
              aria-label={trans.__('Stop')}
              disabled={!isConnected}
              onClick={() => model.cancel()}
            >
              <stopIcon.react tag="span" />
            </button>
          )}
          <button
            type="button"
            className="jp-acp-Prompt-button jp-acp-mod-send"
            title={trans.__('Send (Enter); Shift+Enter for a new line')}
            aria-label={trans.__('Send')}
            disabled={!canSend}
            onClick={send}
          >
            <sendIcon.react tag="span" />
          </button>
        </div>
      </div>
    );
  }
);

/** Typing must show at once, so the draft does not wait for a frame. */
function useDraft(model: SessionModel): string {
  const subscribe = React.useCallback(
    (notify: () => void) => {
      model.draftChanged.connect(notify);
      return () => {
        model.draftChanged.disconnect(notify);
      };
    },
    [model]
  );
  return React.useSyncExternalStore(subscribe, () => model.draft);
}
