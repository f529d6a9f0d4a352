// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import {
  type LabIcon,
  checkIcon,
  clearIcon,
  codeIcon,
  deleteIcon,
  editIcon,
  extensionIcon,
  fileIcon,
  infoIcon,
  linkIcon,
  moveDownIcon,
  searchIcon,
  stopIcon,
  terminalIcon
} from '@jupyterlab/ui-components';
import * as React from 'react';
import type { ToolKind } from '@agentclientprotocol/sdk';

import { useChat } from '../ui/context';
import { useKept } from '../ui/hooks';
import { Location } from '../ui/location';
import { Visible } from '../ui/visible';
import { type IToolCall, placesOf } from './call';
import type { IToolItem } from './items';
import {
  NotebookTool,
  hasRecordDetails,
  isTellingRecord
} from './notebooktool';
import { ToolParts } from './parts';
import { RawDetails, hasRaw } from './raw';
import { shownTool } from './shown';

/** A map, for agents choose the kind, and one may choose `constructor`. */
const KIND_ICONS = new Map<string, LabIcon>([
  ['read', fileIcon],
  ['edit', editIcon],
  ['delete', deleteIcon],
  ['move', moveDownIcon],
  ['search', searchIcon],
  ['execute', terminalIcon],
  ['think', infoIcon],
  ['fetch', linkIcon],
  ['switch_mode', codeIcon]
]);

/** The icon of a kind of tool, also of one that is new to us. */
export function ToolIcon({ kind }: { kind: ToolKind }): JSX.Element {
  const icon = KIND_ICONS.get(kind) ?? extensionIcon;
  return <icon.react tag="span" className="jp-acp-Tool-icon" />;
}

function Status({ status }: { status: IToolCall['status'] }): JSX.Element {
  const { trans } = useChat();
  switch (status) {
    case 'completed':
      return (
        <checkIcon.react
          tag="span"
          className="jp-acp-Status jp-acp-mod-completed"
          title={trans.__('Done')}
        />
      );
    case 'failed':
      return (
        <clearIcon.react
          tag="span"
          className="jp-acp-Status jp-acp-mod-failed"
          title={trans.__('Failed')}
        />
      );
    case 'ended':
      return (
        <stopIcon.react
          tag="span"
          className="jp-acp-Status jp-acp-mod-ended"
          title={trans.__('Stopped')}
        />
      );
    default:
      return (
        <span
          className="jp-acp-Spinner"
          role="img"
          aria-label={
            status === 'pending' ? trans.__('Waiting') : trans.__('Running')
          }
        />
      );
  }
}

interface IToolCallProps {
  item: IToolItem;
  revision: number;
  /** A card shows the same, and asks about it. */
  isAsked: boolean;
}

/** A tool call: one line that unfolds into what was done. */
export function ToolCall({
  item,
  revision,
  isAsked
}: IToolCallProps): JSX.Element {
  const { trans } = useChat();
  const { call, record } = item;
  const { kind, status, title: told } = shownTool(item, trans);
  const title = told || trans.__('Tool call');
  const hasContent =
    call.content.length > 0 || Object.keys(call.terminals).length > 0;
  // Our own titles name the file.
  const [place, ...places] = record ? [] : placesOf(call);
  const isTelling = record ? isTellingRecord(item) : isTellingCall(call);
  const hasDetails =
    isTelling ||
    hasContent ||
    hasRaw(item) ||
    places.length > 0 ||
    (record !== undefined && hasRecordDetails(record));
  const [chosen, setChosen] = useKept<boolean | null>(item, 'open', null);
  const isOpen = hasDetails && (chosen ?? (!isAsked && isTelling));
  const words = (
    <>
      <ToolIcon kind={kind} />
      <span className="jp-acp-Tool-title" title={title}>
        <Visible text={title} />
      </span>
    </>
  );
  return (
    <section
      className={`jp-acp-Tool jp-acp-mod-${status}`}
      aria-label={title}
      data-status={status}
    >
      <div className="jp-acp-Tool-header">
        {hasDetails ? (
          <button
            type="button"
            className="jp-acp-Tool-toggle"
            aria-expanded={isOpen}
            onClick={() => setChosen(!isOpen)}
          >
            {words}
          </button>
        ) : (
          <div className="jp-acp-Tool-toggle">{words}</div>
        )}
        {place && <Location {...place} />}
        <Status status={status} />
      </div>
      {isOpen && (
        <div className="jp-acp-Tool-details">
          {places.length > 0 && (
            <ul className="jp-acp-Tool-places">
              {places.map((each, index) => (
                <li key={index}>
                  <Location {...each} />
                </li>
              ))}
            </ul>
          )}
          {record ? (
            <>
              <NotebookTool item={item} record={record} revision={revision} />
              <RawDetails item={item}>
                {hasContent && (
                  <ToolParts call={call} revision={revision} isAsked={false} />
                )}
              </RawDetails>
            </>
          ) : (
            <ToolParts
              call={call}
              changes={call.status === 'completed' ? item.changes : undefined}
              revision={revision}
              isAsked={false}
              item={item}
            />
          )}
        </div>
      )}
    </section>
  );
}

/** Whether a person would want to see at once what was done. */
function isTellingCall(call: IToolCall): boolean {
  return (
    call.status === 'failed' ||
    call.content.some(part => part.type === 'diff') ||
    (call.kind === 'execute' &&
      (call.content.length > 0 || Object.keys(call.terminals).length > 0))
  );
}
