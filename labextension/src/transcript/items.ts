// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { ContentBlock, PlanEntry } from '@agentclientprotocol/sdk';
import type { TranslationBundle } from '@jupyterlab/translation';

import type { IChangeItem, ISummaryItem } from '../changes/items';
import type { INotice } from '../decode/messages';
import { type IStateError, ourMeta } from '../protocol';
import type { IResultItem } from '../remote/items';
import type { IAnswerItem } from '../requests/items';
import type { IToolItem } from '../tools/items';
import { MarkdownBlocks } from '../ui/blocks';
import type { IRow } from '../ui/row';

/** A stretch of a message: text that may still grow, or one other block. */
export type MessagePart =
  | { type: 'text'; blocks: MarkdownBlocks }
  | { type: 'block'; block: MessageBlock };

type MessageBlock = Exclude<ContentBlock, { type: 'text' }>;

export interface IMessageItem extends IRow {
  kind: 'user' | 'agent' | 'thought';
  messageId?: string;
  /** Whether only the agent says that the user said it. */
  isHearsay: boolean;
  parts: MessagePart[];
  /** What the agent was told with it, which the user did not say. */
  told: MessagePart[];
}

/** Whose words these are, if they are not the agent's. */
export function userName(
  { isHearsay }: IMessageItem,
  trans: TranslationBundle
): string {
  return isHearsay ? trans.__('You, according to the agent') : trans.__('You');
}

export interface IPlanItem extends IRow {
  kind: 'plan';
  entries: PlanEntry[];
}

export interface INoticeItem extends IRow, INotice {
  kind: 'notice';
}

/** The agent makes room by summing up what was said before. */
export interface ICompactionItem extends IRow {
  kind: 'compaction';
  status: string;
  /** What it remembers instead, if it tells. */
  summary: MessagePart[];
  error: string;
}

/** Parts of messages that could not be read. */
export interface IDroppedItem extends IRow {
  kind: 'dropped';
  parts: unknown[];
}

export interface IErrorItem extends IRow {
  kind: 'error';
  error: IStateError;
}

export interface IStopItem extends IRow {
  kind: 'stop';
  reason: string;
}

/** Something that the agent was refused without anybody being asked. */
export interface IRefusalItem extends IRow {
  kind: 'refusal';
  by: string;
  subject: string;
}

export type TranscriptItem =
  | IMessageItem
  | IToolItem
  | IChangeItem
  | ISummaryItem
  | IPlanItem
  | INoticeItem
  | ICompactionItem
  | IDroppedItem
  | IErrorItem
  | IStopItem
  | IAnswerItem
  | IRefusalItem
  | IResultItem;

/** The text of a message, without what is not text. */
export function messageText(item: IMessageItem): string {
  return item.parts
    .map(part => (part.type === 'text' ? part.blocks.text : ''))
    .join('');
}

/** Add a piece to what a message holds; text grows on where it ended. */
export function appendContent(
  parts: MessagePart[],
  content: ContentBlock
): void {
  if (content.type !== 'text') {
    parts.push({ type: 'block', block: content });
    return;
  }
  const { name, uri } = ourMeta<{ name: string; uri: string }>(content);
  if (typeof name === 'string') {
    // Told in words to an agent that takes nothing else; to people it is a thing.
    const { text, _meta } = content;
    const block: MessageBlock = uri
      ? { type: 'resource_link', uri: String(uri), name, _meta }
      : { type: 'resource', resource: { uri: '', text }, _meta };
    parts.push({ type: 'block', block });
    return;
  }
  let last = parts.at(-1);
  if (last?.type !== 'text') {
    last = { type: 'text', blocks: new MarkdownBlocks() };
    parts.push(last);
  }
  last.blocks.append(content.text);
}

/** How what an agent is told begins; see `jupyter_acp/context/block.py`. */
const WHOLE =
  'What the user has open in JupyterLab. It is information, not a request.';
const CHANGED =
  'What has changed in JupyterLab since the last message. It is information, not a request.';

/** The lines around it: agents repeat it with them, and users may write of them. */
const TOLD_END = '</jupyter-context>';
const BEGINNINGS = [WHOLE, CHANGED].join('|').replace(/\./g, '\\.');
const TOLD = new RegExp(
  `\\s*<jupyter-context>\\n((?:${BEGINNINGS})\\n[^]*?)\\n${TOLD_END}\\n?`,
  'g'
);

/** What an agent was told, without the lines around it. */
export function toldText(text: string): string {
  return text.replace(TOLD, '$1');
}

/** Take out of what the user said what only the agent was told. */
export function separateTold({ parts, told }: IMessageItem): void {
  const last = parts.at(-1);
  if (last?.type !== 'text' || !last.blocks.text.includes(TOLD_END)) {
    return;
  }
  const said = last.blocks.text.replace(TOLD, (_, text: string) => {
    appendContent(told, { type: 'text', text });
    return '\n';
  });
  parts.pop();
  if (said.trim()) {
    appendContent(parts, { type: 'text', text: said });
  }
}
