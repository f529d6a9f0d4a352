// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Button, caretDownEmptyIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import { MadeChange } from '../changes/change';
import { Summary } from '../changes/summary';
import { AttachmentNames } from '../prompt/attachments';
import type { IWaitingPrompt } from '../prompt/sent';
import { Result } from '../remote/result';
import { Answer } from '../requests/answer';
import { ToolCall } from '../tools/toolcall';
import { Boundary } from '../ui/boundary';
import { useChat } from '../ui/context';
import { Elapsed, clock } from '../ui/elapsed';
import { Dropped, Unreadable } from '../ui/unreadable';
import { Windowed } from '../ui/windowed';
import { Compaction } from './compaction';
import { toRows } from './groups';
import type { TranscriptItem } from './items';
import { AgentMessage, Thought, UserMessage } from './message';
import { ErrorNotice, Notice, Refusal, Stop } from './notices';
import { Plan } from './plan';
import { ToolGroup } from './toolgroup';

/** Nearer to the end than this, the view follows what is added. */
const NEAR_END_PX = 48;

interface IItemProps {
  item: TranscriptItem;
  /** Items change in place: this is what tells that one did. */
  revision: number;
  isGrowing: boolean;
  isAsked: boolean;
  onRestart?: () => void;
  onLog?: () => void;
}

const Item = React.memo(function Item({
  item,
  revision,
  isGrowing,
  isAsked,
  onRestart,
  onLog
}: IItemProps): JSX.Element | null {
  switch (item.kind) {
    case 'user':
      return <UserMessage item={item} revision={revision} />;
    case 'agent':
      return (
        <AgentMessage item={item} revision={revision} isGrowing={isGrowing} />
      );
    case 'thought':
      return <Thought item={item} revision={revision} isGrowing={isGrowing} />;
    case 'tool':
      return <ToolCall item={item} revision={revision} isAsked={isAsked} />;
    case 'change':
      return <MadeChange change={item.change} revision={revision} />;
    case 'summary':
      return <Summary item={item} revision={revision} />;
    case 'result':
      return <Result item={item} revision={revision} />;
    case 'plan':
      return <Plan item={item} revision={revision} />;
    case 'notice':
      return <Notice item={item} />;
    case 'compaction':
      return <Compaction item={item} revision={revision} />;
    case 'dropped':
      return <Dropped parts={item.parts} />;
    case 'refusal':
      return <Refusal item={item} />;
    case 'stop':
      return <Stop item={item} />;
    case 'answer':
      return <Answer item={item} />;
    case 'error':
      return <ErrorNotice item={item} onRestart={onRestart} onLog={onLog} />;
    default:
      return null;
  }
});

/** A row, or its data if it cannot be shown. */
function Row(props: IItemProps): JSX.Element {
  const { trans } = useChat();
  const { item, revision } = props;
  return (
    <Boundary
      stamp={revision}
      fallback={() => (
        <Unreadable
          label={trans.__('This part of the transcript cannot be shown')}
          parts={[item]}
        />
      )}
    >
      <Item {...props} />
    </Boundary>
  );
}

interface ITranscriptProps {
  items: readonly TranscriptItem[];
  waiting: readonly IWaitingPrompt[];
  /** Ids of the tool calls that wait for permission. */
  asked: ReadonlySet<string>;
  isBusy: boolean;
  /** When the turn began, if one runs. */
  runningSince: number | null;
  isBroken: boolean;
  onRestart: () => void;
  /** Show what the agent printed. */
  onLog: () => void;
}

/** The conversation, which stays at its end unless the person scrolls up. */
export function TranscriptView({
  items,
  waiting,
  asked,
  isBusy,
  runningSince,
  isBroken,
  onRestart,
  onLog
}: ITranscriptProps): JSX.Element {
  const { trans } = useChat();
  const scroller = React.useRef<HTMLDivElement>(null);
  const content = React.useRef<HTMLDivElement>(null);
  const follows = React.useRef(true);
  const lastTop = React.useRef(0);
  const [isAway, setAway] = React.useState(false);

  const toEnd = React.useCallback(() => {
    const node = scroller.current;
    if (node) {
      node.scrollTop = node.scrollHeight;
    }
  }, []);

  React.useEffect(() => {
    // Markdown and images grow after React is done: watch the size itself.
    const observer = new ResizeObserver(() => {
      if (follows.current) {
        toEnd();
      }
    });
    observer.observe(content.current!);
    observer.observe(scroller.current!);
    return () => observer.disconnect();
  }, [toEnd]);

  const onScroll = () => {
    const node = scroller.current!;
    const distance = node.scrollHeight - node.scrollTop - node.clientHeight;
    // Only a person scrolls up: away from the end otherwise means that
    // something was added, which is about to be followed.
    if (distance < NEAR_END_PX) {
      follows.current = true;
    } else if (node.scrollTop < lastTop.current) {
      follows.current = false;
    }
    lastTop.current = node.scrollTop;
    setAway(!follows.current);
  };

  const newest = waiting.at(-1)?.id;
  React.useEffect(() => {
    if (newest !== undefined) {
      follows.current = true;
      toEnd();
    }
  }, [newest, toEnd]);

  const lastError = isBroken ? lastErrorOf(items) : undefined;
  const show = (item: TranscriptItem): JSX.Element => (
    <Row
      key={item.key}
      item={item}
      revision={item.revision}
      isGrowing={isBusy && item === items.at(-1)}
      isAsked={
        item.kind === 'tool' &&
        (asked.has(item.call.toolCallId) ||
          (item.record !== undefined && asked.has(item.record.id)))
      }
      onRestart={item === lastError ? onRestart : undefined}
      onLog={item === lastError ? onLog : undefined}
    />
  );
  return (
    <div className="jp-acp-Transcript">
      <div
        ref={scroller}
        className="jp-acp-Transcript-scroller"
        onScroll={onScroll}
        tabIndex={0}
        role="log"
        aria-label={trans.__('Conversation')}
        aria-busy={isBusy}
      >
        <div ref={content} className="jp-acp-Transcript-content">
          <Windowed
            rows={toRows(items, asked)}
            scroller={scroller}
            source={items}
            // Which items are shown in another way though they did not change.
            stamp={[isBusy, lastError?.key, ...asked].join()}
            render={row =>
              row.kind === 'group' ? (
                <ToolGroup
                  key={row.key}
                  group={row}
                  revision={row.revision}
                  render={show}
                />
              ) : (
                show(row)
              )
            }
          />
          {waiting.map(prompt => (
            <article
              key={prompt.id}
              className="jp-acp-Message jp-acp-mod-user jp-acp-mod-pending"
              aria-label={trans.__('You')}
            >
              <div className="jp-acp-UserText">{prompt.text}</div>
              <AttachmentNames attachments={prompt.attachments} />
            </article>
          ))}
          {isBusy && (
            <div
              className="jp-acp-Working"
              role="status"
              aria-label={trans.__('The agent is working')}
            >
              <span />
              <span />
              <span />
              <Elapsed since={runningSince} after={10}>
                {seconds => <small>{clock(seconds)}</small>}
              </Elapsed>
            </div>
          )}
        </div>
      </div>
      {isAway && (
        <Button
          className="jp-acp-ToEnd"
          minimal
          title={trans.__('Scroll to the end')}
          aria-label={trans.__('Scroll to the end')}
          onClick={toEnd}
        >
          <caretDownEmptyIcon.react tag="span" />
        </Button>
      )}
    </div>
  );
}

function lastErrorOf(
  items: readonly TranscriptItem[]
): TranscriptItem | undefined {
  for (let index = items.length - 1; index >= 0; index--) {
    if (items[index].kind === 'error') {
      return items[index];
    }
  }
  return undefined;
}
