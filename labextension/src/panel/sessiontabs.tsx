// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { closeIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import { RemoteMark } from '../remote/mark';
import { remoteWords } from '../remote/words';
import { useSessions } from '../sessions/context';
import { statusOf } from '../sessions/list';
import { Dot } from '../sessions/row';
import { statusWords, titleOf } from '../sessions/words';
import { useFrameUpdates } from '../ui/hooks';

/** The id of the element that a tab is for. */
export const PANE_ID = 'jp-acp-pane';

interface ISessionTabsProps {
  current: string | undefined;
  onOpen: (id: string) => void;
}

/** The sessions that the side panel has open, where there are several. */
export function SessionTabs({
  current,
  onOpen
}: ISessionTabsProps): JSX.Element {
  const { sessions, trans } = useSessions();
  useFrameUpdates(sessions.list.changed);
  const strip = React.useRef<HTMLDivElement>(null);
  const { tabs } = sessions;
  const reachable = current && tabs.includes(current) ? current : tabs[0];

  React.useEffect(() => {
    strip.current
      ?.querySelector('[aria-selected=true]')
      ?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [current]);

  const focus = (index: number) => {
    const nodes = strip.current!.querySelectorAll<HTMLElement>('[role=tab]');
    nodes[(index + nodes.length) % nodes.length]?.focus();
  };
  const onKeyDown = (event: React.KeyboardEvent, index: number) => {
    switch (event.key) {
      case 'ArrowRight':
        focus(index + 1);
        break;
      case 'ArrowLeft':
        focus(index - 1);
        break;
      case 'Home':
        focus(0);
        break;
      case 'End':
        focus(-1);
        break;
      case 'Delete':
        sessions.close(tabs[index]);
        requestAnimationFrame(() => focus(Math.min(index, tabs.length - 1)));
        break;
      default:
        return;
    }
    event.preventDefault();
  };

  return (
    <div
      ref={strip}
      className="jp-acp-Tabs"
      role="tablist"
      aria-label={trans.__('Open sessions')}
    >
      {tabs.map((id, index) => {
        const session = sessions.list.get(id);
        const status = session ? statusOf(session) : 'ready';
        const title = titleOf(session, trans);
        const remote = session?.remote;
        const words = [
          title,
          statusWords(status, trans),
          ...(remote ? [remoteWords(remote, trans)] : [])
        ];
        return (
          <div
            key={id}
            role="tab"
            className="jp-acp-Tabs-tab"
            tabIndex={id === reachable ? 0 : -1}
            aria-selected={id === current}
            aria-controls={id === current ? PANE_ID : undefined}
            aria-label={words.join(', ')}
            aria-keyshortcuts="Delete"
            title={words.join(' · ')}
            onClick={() => onOpen(id)}
            onAuxClick={event => event.button === 1 && sessions.close(id)}
            onKeyDown={event => {
              if (event.key === 'Enter' || event.key === ' ') {
                event.preventDefault();
                onOpen(id);
              } else {
                onKeyDown(event, index);
              }
            }}
          >
            <Dot status={status} />
            {remote && <RemoteMark remote={remote} />}
            <span className="jp-acp-Tabs-title">{title}</span>
            {/* By keyboard, it is the Delete key: a tab holds no other control. */}
            <span
              className="jp-acp-Tabs-close"
              aria-hidden
              title={trans.__('Close the tab; the session continues')}
              onClick={event => {
                event.stopPropagation();
                sessions.close(id);
              }}
            >
              <closeIcon.react tag="span" />
            </span>
          </div>
        );
      })}
    </div>
  );
}
