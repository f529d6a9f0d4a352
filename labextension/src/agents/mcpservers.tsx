// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { extensionIcon } from '@jupyterlab/ui-components';
import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { IMcpServer } from '../protocol';
import { useChat } from '../ui/context';
import { Visible } from '../ui/visible';

/** The title of their page in the settings, as its schema has it. */
const SETTINGS = 'Agents: MCP Servers';

interface IMcpServersProps {
  servers: readonly IMcpServer[];
}

/** Which of the MCP servers that were set up the agent has in this session. */
export const McpServers = React.memo(function McpServers({
  servers
}: IMcpServersProps): JSX.Element | null {
  const { openSettings, trans } = useChat();
  const frame = React.useRef<HTMLDetailsElement>(null);
  if (servers.length === 0) {
    return null;
  }
  const close = (): void => {
    frame.current!.open = false;
  };
  const on = servers.filter(({ state }) => state === 'on');
  const isShort = on.length < servers.length;
  return (
    <details
      ref={frame}
      className="jp-acp-Servers"
      onBlur={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget)) {
          close();
        }
      }}
      onKeyDown={event => {
        if (event.key === 'Escape' && frame.current!.open) {
          event.preventDefault();
          event.stopPropagation();
          close();
          frame.current!.querySelector('summary')!.focus();
        }
      }}
    >
      <summary
        className={isShort ? 'jp-acp-mod-short' : ''}
        title={trans.__('MCP servers of this session')}
        aria-label={trans.__(
          'MCP servers: %1 of %2 are on',
          on.length,
          servers.length
        )}
      >
        <extensionIcon.react tag="span" />
        {isShort ? trans.__('%1 of %2', on.length, servers.length) : on.length}
      </summary>
      {/* Focusable, so that a click into it does not close it. */}
      <div className="jp-acp-Servers-list" tabIndex={-1}>
        <ul aria-label={trans.__('MCP servers of this session')}>
          {servers.map((server, index) => (
            <li key={index} className={`jp-acp-mod-${server.state}`}>
              <span className="jp-acp-Servers-name">
                <Visible text={server.name || trans.__('unnamed')} />
              </span>
              <span className="jp-acp-Servers-state">
                <Visible text={stateWords(server, trans)} />
              </span>
            </li>
          ))}
        </ul>
        <p>
          {trans.__(
            'Changed settings apply to sessions that are opened or restored later.'
          )}
        </p>
        <button
          type="button"
          className="jp-mod-styled"
          onClick={() => void openSettings(SETTINGS)}
        >
          {trans.__('Settings')}
        </button>
      </div>
    </details>
  );
});

function stateWords(
  { state, message }: IMcpServer,
  trans: TranslationBundle
): string {
  switch (state) {
    case 'on':
      return trans.__('on');
    case 'unsupported':
      return trans.__('not supported by this agent');
    default:
      return message ?? trans.__('not used');
  }
}
