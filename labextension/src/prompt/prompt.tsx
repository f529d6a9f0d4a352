// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { stopIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import { CommandIDs } from '../api/commands';
import { useChat } from '../ui/context';
import { sendIcon } from '../ui/icons';
import { Attachments } from './attachments';
import { CompletionList } from './completion';
import { attachFiles, useDrops } from './drops';
import type { IPromptSession } from './session';
import { useChatSettings } from './settings';
import { useSuggestions } from './suggestions';

interface IPromptProps {
  model: IPromptSession;
  isBusy: boolean;
  isConnected: boolean;
  /** Settings of the session, shown next to the send button. */
  children?: React.ReactNode;
}

/** Where the person writes. What is written lives in the model and outlives this. */
export const Prompt = React.forwardRef<HTMLTextAreaElement, IPromptProps>(
  function Prompt({ model, isBusy, isConnected, children }, ref): JSX.Element {
    const { references, run, trans } = useChat();
    const { composer } = model;
    const settings = useChatSettings();
    const text = useComposer(model);
    const [caret, setCaret] = React.useState(text.length);
    const listId = React.useId();
    const frame = React.useRef<HTMLDivElement>(null);
    const { isOver } = useDrops(frame, model, references, trans);
    const area = React.useRef<HTMLTextAreaElement>(null);
    React.useImperativeHandle(ref, () => area.current!);
    const wantedCaret = React.useRef<number | null>(null);
    React.useLayoutEffect(() => {
      // A text that was put in leaves the cursor at its own end, not behind all.
      if (wantedCaret.current !== null) {
        area.current?.setSelectionRange(
          wantedCaret.current,
          wantedCaret.current
        );
        wantedCaret.current = null;
      }
    }, [text]);
    const completion = useSuggestions(
      model,
      text,
      Math.min(caret, text.length),
      (text, end) => {
        wantedCaret.current = end;
        setCaret(end);
        composer.text = text;
      }
    );
    const { history } = model;
    const hasList = completion.items.length > 0;
    const canSend =
      isConnected && (text.trim() !== '' || composer.attachments.length > 0);

    const recall = (
      event: React.KeyboardEvent<HTMLTextAreaElement>
    ): boolean => {
      const { value } = event.currentTarget;
      const isModified =
        event.shiftKey || event.altKey || event.ctrlKey || event.metaKey;
      // In a text of one's own, the keys go from line to line.
      if (isModified || !(value === '' || history.isShown(value))) {
        return false;
      }
      const found =
        event.key === 'ArrowUp'
          ? history.back()
          : event.key === 'ArrowDown'
            ? history.forward()
            : null;
      if (found === null) {
        return false;
      }
      composer.text = found;
      return true;
    };
    const onKeyDown = (
      event: React.KeyboardEvent<HTMLTextAreaElement>
    ): void => {
      // Enter that ends the composition of a character must not choose.
      if (event.nativeEvent.isComposing) {
        return;
      }
      if (completion.onKeyDown(event) || recall(event)) {
        event.preventDefault();
        event.stopPropagation();
      }
    };
    const onPaste = (event: React.ClipboardEvent): void => {
      const images = [...event.clipboardData.files].filter(file =>
        file.type.startsWith('image/')
      );
      if (images.length > 0) {
        event.preventDefault();
        void attachFiles(images, model, trans);
      }
    };
    return (
      <div
        ref={frame}
        className={`jp-acp-Prompt ${isOver ? 'jp-acp-mod-over' : ''}`}
      >
        {hasList && <CompletionList id={listId} completion={completion} />}
        <Attachments model={model} />
        <textarea
          ref={area}
          // The keys that send and stop are shortcuts for these.
          className={`jp-acp-Prompt-input ${
            settings.sendsWithEnter ? 'jp-acp-mod-enter' : 'jp-acp-mod-modified'
          } ${hasList ? 'jp-acp-mod-listing' : ''} ${
            completion.isChoosing ? 'jp-acp-mod-choosing' : ''
          } ${isBusy ? 'jp-acp-mod-busy' : ''}`}
          rows={1}
          value={text}
          placeholder={
            isBusy
              ? trans.__('Queue a message')
              : trans.__('Ask the agent, / for commands, @ to mention')
          }
          aria-label={trans.__('Message to the agent')}
          aria-autocomplete="list"
          aria-controls={hasList ? listId : undefined}
          aria-activedescendant={
            hasList ? `${listId}-${completion.selected}` : undefined
          }
          onChange={event => {
            history.leave();
            composer.text = event.target.value;
            setCaret(event.target.selectionStart);
          }}
          onSelect={event => setCaret(event.currentTarget.selectionStart)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
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
              onClick={() => run(CommandIDs.stopTurn, { id: model.id })}
            >
              <stopIcon.react tag="span" />
            </button>
          )}
          <button
            type="button"
            className="jp-acp-Prompt-button jp-acp-mod-send"
            title={
              settings.sendsWithEnter
                ? trans.__('Send (Enter); Shift+Enter for a new line')
                : trans.__('Send (Shift+Enter)')
            }
            aria-label={trans.__('Send')}
            disabled={!canSend}
            onClick={() => run(CommandIDs.sendMessage, { id: model.id })}
          >
            <sendIcon.react tag="span" />
          </button>
        </div>
      </div>
    );
  }
);

/** Typing must show at once, so the draft does not wait for a frame. */
function useComposer({ composer }: IPromptSession): string {
  const subscribe = React.useCallback(
    (notify: () => void) => {
      composer.changed.connect(notify);
      return () => {
        composer.changed.disconnect(notify);
      };
    },
    [composer]
  );
  React.useSyncExternalStore(subscribe, () => composer.version);
  return React.useSyncExternalStore(subscribe, () => composer.text);
}
