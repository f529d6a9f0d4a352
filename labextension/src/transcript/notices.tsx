// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import { useChat } from '../ui/context';
import { Printed } from '../ui/printed';
import { useSession } from '../ui/session';
import { Visible } from '../ui/visible';
import type { IErrorItem, INoticeItem, IRefusalItem, IStopItem } from './items';

/** What the agent or the server wants known; how grave it is stands in words. */
export function Notice({ item }: { item: INoticeItem }): JSX.Element {
  const { connection, reloadSession, trans } = useChat();
  const session = useSession();
  const words = {
    info: '',
    warning: trans.__('Warning:'),
    error: trans.__('Error:')
  };
  return (
    <div className={`jp-acp-Notice jp-acp-mod-${item.level}`}>
      {words[item.level] && <strong>{words[item.level]} </strong>}
      {item.text}
      {item.detail && <p className="jp-acp-Notice-detail">{item.detail}</p>}
      {item.offer === 'reload' && connection.server.mayAct !== false && (
        <button
          type="button"
          className="jp-mod-styled jp-acp-Notice-action"
          onClick={() => void reloadSession(session.id).catch(() => undefined)}
        >
          {trans.__('Reload from the Agent…')}
        </button>
      )}
    </div>
  );
}

/** What a rule did not let the agent do. */
export function Refusal({ item }: { item: IRefusalItem }): JSX.Element {
  const { trans } = useChat();
  const words = new Map<string, string>([
    ['admin', trans.__('Not allowed by the administrator:')],
    ["user's rule", trans.__('Not allowed by your rules:')],
    ['said before', trans.__('Rejected by you before:')]
  ]);
  return (
    <p className="jp-acp-Notice jp-acp-mod-warning">
      {words.get(item.by) ?? trans.__('Not allowed:')}{' '}
      <code>
        <Visible text={item.subject} />
      </code>
    </p>
  );
}

/** Why a turn ended before the agent was done. */
export function Stop({ item }: { item: IStopItem }): JSX.Element {
  const { trans } = useChat();
  const words = new Map<string, string>([
    ['cancelled', trans.__('Stopped by you.')],
    [
      'max_tokens',
      trans.__(
        'The agent reached its token limit. Ask it to continue, or start a new session.'
      )
    ],
    [
      'max_turn_requests',
      trans.__(
        'The agent reached the request limit of a turn. Ask it to continue.'
      )
    ],
    [
      'refusal',
      trans.__(
        'The agent refused to continue. Rephrase your message, or start a new session.'
      )
    ]
  ]);
  return (
    <p className="jp-acp-Notice jp-acp-mod-info">
      {words.get(item.reason) ?? trans.__('The turn ended: %1', item.reason)}
    </p>
  );
}

const NOTHING: readonly string[] = [];

interface IErrorProps {
  item: IErrorItem;
  /** Given while the error is what keeps the session from working. */
  onRestart?: () => void;
  onLog?: () => void;
}

/** What went wrong, what the agent printed last, and what to do about it. */
export function ErrorNotice({
  item,
  onRestart,
  onLog
}: IErrorProps): JSX.Element {
  const { trans } = useChat();
  const { message, stderr = NOTHING } = item.error;
  return (
    <section className="jp-acp-Error" role="alert">
      <p className="jp-acp-Error-message">
        {stderr.length > 0 ? message.split('\n', 1)[0] : message}
      </p>
      {stderr.length > 0 && (
        <details open>
          <summary>{trans.__('Last agent output')}</summary>
          <Printed label={trans.__('Last agent output')} lines={stderr} />
        </details>
      )}
      {onRestart && (
        <div className="jp-acp-Error-actions">
          <button
            type="button"
            className="jp-mod-styled jp-mod-accept"
            onClick={onRestart}
          >
            {trans.__('Restart the agent')}
          </button>
          {onLog && (
            <button type="button" className="jp-mod-styled" onClick={onLog}>
              {trans.__('Show the log')}
            </button>
          )}
          <span>
            {trans.__(
              'The session is kept. Sending a message also restarts the agent.'
            )}
          </span>
        </div>
      )}
    </section>
  );
}
