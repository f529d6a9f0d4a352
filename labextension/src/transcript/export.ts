// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type * as nbformat from '@jupyterlab/nbformat';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { ContentBlock, Diff } from '@agentclientprotocol/sdk';

import type { IFileChange } from '../changes/review';
import type { IToolRecord } from '../decode/record';
import { hunks } from '../diff/hunks';
import type { IRemoteResult } from '../protocol';
import { answerWords } from '../requests/words';
import type { IToolCall } from '../tools/call';
import type { IToolItem } from '../tools/items';
import { shownTool } from '../tools/shown';
import { AnsiText } from '../ui/ansi';
import { fenced } from '../ui/fence';
import {
  type IMessageItem,
  type MessagePart,
  type TranscriptItem,
  userName
} from './items';

/** A session, as far as an export tells of it. */
export interface IExportSource {
  title: string;
  /** The agent's name. */
  agent: string;
  created?: string;
  items: readonly TranscriptItem[];
  trans: TranslationBundle;
}

/** What a notebook says of the kernel that is to run it. */
export interface IExportKernel {
  name: string;
  displayName: string;
  language: string;
}

/** The session as a text that can be read without us. */
export function toMarkdown(source: IExportSource): string {
  const parts = [...exported(source)].map(({ text }) => text);
  return `${[preface(source), ...parts].join('\n\n')}\n`;
}

/**
 * The same as a notebook: code of the agent that its kernel could run is in
 * cells of its own.
 */
export function toNotebook(
  source: IExportSource,
  kernel: IExportKernel
): object {
  const cells: object[] = [];
  const add = (text: string, isCode: boolean): void => {
    if (text.trim()) {
      const base = { id: `cell-${cells.length}`, metadata: {}, source: text };
      cells.push(
        isCode
          ? { ...base, cell_type: 'code', execution_count: null, outputs: [] }
          : { ...base, cell_type: 'markdown' }
      );
    }
  };
  add(preface(source), false);
  for (const { text, isAgents } of exported(source)) {
    for (const piece of isAgents ? codeBlocks(text) : [{ text }]) {
      const isCode =
        'language' in piece && isLanguage(piece.language, kernel.language);
      add(isCode ? piece.code : piece.text, isCode);
    }
  }
  return {
    nbformat: 4,
    nbformat_minor: 5,
    metadata: {
      kernelspec: {
        name: kernel.name,
        display_name: kernel.displayName,
        language: kernel.language
      },
      language_info: { name: kernel.language }
    },
    cells
  };
}

const IMAGE = /^image\/(png|jpeg|gif|webp)$/;

interface IExported {
  text: string;
  /** It is what the agent said, in markdown of its own. */
  isAgents?: boolean;
}

function preface({ title, agent, created }: IExportSource): string {
  const date = created ? ` · ${created.slice(0, 10)}` : '';
  return `# ${escaped(title)}\n\n*${escaped(agent)}${date}*`;
}

function* exported(source: IExportSource): Generator<IExported> {
  const { items, agent, trans } = source;
  let speaker = '';
  for (const item of items) {
    const text = itemText(item, trans);
    if (!text.trim()) {
      continue;
    }
    const name = item.kind === 'user' ? userName(item, trans) : agent;
    if (name !== speaker) {
      speaker = name;
      yield { text: `## ${escaped(name)}` };
    }
    yield { text, isAgents: item.kind === 'agent' };
  }
}

function itemText(item: TranscriptItem, trans: TranslationBundle): string {
  switch (item.kind) {
    case 'user':
      return [quoted(message(item, trans)), toldText(item, trans)]
        .filter(Boolean)
        .join('\n\n');
    case 'agent':
      return message(item, trans).trim();
    case 'thought':
      return folded(trans.__('Thought'), message(item, trans).trim());
    case 'tool':
      return toolText(item, trans);
    case 'change':
      return item.isCovered || item.isOwned ? '' : changeText(item.change);
    case 'plan':
      return item.entries
        .map(
          ({ status, content }) =>
            `- [${status === 'completed' ? 'x' : ' '}] ${escaped(content)}`
        )
        .join('\n');
    case 'notice':
      return note(item.text);
    case 'error':
      return note(trans.__('Error: %1', item.error.message));
    case 'stop':
      return note(trans.__('The turn ended: %1', item.reason));
    case 'answer':
      return note(answerWords(item.question, item.answer, trans));
    case 'refusal':
      return note(trans.__('Not allowed: %1', item.subject));
    case 'result':
      return resultText(item.result, trans);
    case 'dropped':
      return note(trans.__('The agent sent something that cannot be shown'));
    default:
      return '';
  }
}

/** What the agent was told beside what was said, folded as it is in the chat. */
function toldText({ told }: IMessageItem, trans: TranslationBundle): string {
  const parts = told.map(part =>
    part.type === 'text'
      ? fenced(part.blocks.text)
      : blockText(part.block, trans)
  );
  return parts.length > 0
    ? folded(trans.__('Editor context'), parts.join('\n\n'))
    : '';
}

function folded(summary: string, text: string): string {
  return `<details>\n<summary>${summary}</summary>\n\n${text}\n\n</details>`;
}

function message(item: IMessageItem, trans: TranslationBundle): string {
  return item.parts.map(part => partText(part, trans)).join('\n\n');
}

function partText(part: MessagePart, trans: TranslationBundle): string {
  return part.type === 'text' ? part.blocks.text : blockText(part.block, trans);
}

function blockText(block: ContentBlock, trans: TranslationBundle): string {
  switch (block.type) {
    case 'text':
      return fenced(block.text);
    case 'image':
      return IMAGE.test(block.mimeType)
        ? `![${trans.__('Image')}](data:${block.mimeType};base64,${block.data.replace(/[^\w+/=]/g, '')})`
        : note(trans.__('Image (%1)', block.mimeType));
    case 'audio':
      return note(trans.__('Audio (%1)', block.mimeType));
    case 'resource_link':
      return linked(block.title || block.name || block.uri, block.uri);
    case 'resource':
      return [
        linked(block.resource.uri, block.resource.uri),
        ...('text' in block.resource && block.resource.text
          ? [fenced(block.resource.text)]
          : [])
      ].join('\n\n');
    default:
      return '';
  }
}

function toolText(item: IToolItem, trans: TranslationBundle): string {
  const shown = shownTool(item, trans);
  const status = {
    pending: trans.__('not started'),
    in_progress: trans.__('running'),
    completed: trans.__('completed'),
    failed: trans.__('failed'),
    ended: trans.__('ended')
  }[shown.status];
  const title = shown.title || trans.__('Tool call');
  const parts = item.record
    ? recordTexts(item.record, trans)
    : callTexts(item.call, trans);
  return [
    `**${escaped(title)}** · ${status}`,
    item.isRuled
      ? note(
          trans.__(
            "The server answered the agent's permission request, because its own rules apply to this tool."
          )
        )
      : '',
    ...parts,
    ...item.made.map(changeText)
  ]
    .filter(Boolean)
    .join('\n\n');
}

function callTexts(call: IToolCall, trans: TranslationBundle): string[] {
  const parts = call.content.map(part =>
    part.type === 'diff'
      ? changeText(part)
      : part.type === 'content'
        ? blockText(part.content, trans)
        : ''
  );
  const printed = Object.values(call.terminals)
    .map(({ output }) => output.text)
    .filter(text => text.trim());
  return [...parts, ...printed.map(text => fenced(text))];
}

/** What one of our own tools brought, as a notebook would tell it. */
function recordTexts(record: IToolRecord, trans: TranslationBundle): string[] {
  const runs = record.runs.flatMap(run => [
    run.source && fenced(run.source, run.language),
    ...run.outputs.map(output => outputText(output, trans)),
    note(run.note)
  ]);
  const { variables = [] } = record.variables ?? {};
  const lines = variables.map(
    ({ name, type, shape, value }) =>
      `${name}: ${type}${shape ? ` [${shape}]` : ''} = ${value}`
  );
  return [
    note(record.error?.message ?? ''),
    ...runs,
    lines.length > 0 ? fenced(lines.join('\n')) : '',
    ...record.outputs.map(output => outputText(output, trans))
  ];
}

function outputText(
  output: nbformat.IOutput,
  trans: TranslationBundle
): string {
  if (output.output_type === 'stream') {
    return fenced(plain((output as nbformat.IStream).text as string));
  }
  if (output.output_type === 'error') {
    const { ename, evalue, traceback } = output as nbformat.IError;
    return fenced(plain(traceback.join('\n')) || `${ename}: ${evalue}`);
  }
  const data = output.data as Record<string, unknown>;
  const image = Object.keys(data).find(type => IMAGE.test(type));
  if (image) {
    return blockText(
      { type: 'image', mimeType: image, data: String(data[image]) },
      trans
    );
  }
  const words = data['text/plain'] ?? data['text/markdown'];
  return typeof words === 'string'
    ? fenced(plain(words))
    : note(trans.__('Output (%1)', Object.keys(data).join(', ')));
}

/** What was printed, without its colours. */
function plain(printed: string): string {
  const text = new AnsiText();
  text.append(printed);
  return text.text;
}

function changeText({ path, oldText, newText }: IFileChange | Diff): string {
  return diffText(path, oldText ?? '', newText);
}

/** Lines that are shown around a change. */
const AROUND = 3;

function diffText(path: string, before: string, after: string): string {
  const [old, now] = [lines(before), lines(after)];
  const text = [`--- ${path}`, `+++ ${path}`];
  let done = 0;
  hunks(old, now).forEach(({ start, end, newStart, newEnd }, index, all) => {
    const from = Math.max(done, start - AROUND);
    if (from > done || index === 0) {
      text.push(`@@ -${from + 1} +${newStart - (start - from) + 1} @@`);
    }
    done = Math.min(end + AROUND, all[index + 1]?.start ?? old.length);
    text.push(
      ...old.slice(from, start).map(line => ` ${line}`),
      ...old.slice(start, end).map(line => `-${line}`),
      ...now.slice(newStart, newEnd).map(line => `+${line}`),
      ...old.slice(end, done).map(line => ` ${line}`)
    );
  });
  return fenced(text.join('\n'), 'diff');
}

function lines(text: string): string[] {
  return text ? text.replace(/\n$/, '').split('\n') : [];
}

/** Where a result is to be found, also by who has nothing but this text. */
function resultText(result: IRemoteResult, trans: TranslationBundle): string {
  const { number, target, message } = result;
  const title = trans.__('Result %1', number);
  const place = trans.__(
    'Branch %1 of %2, revision %3',
    target.branch,
    target.url,
    target.revision
  );
  return [`**${escaped(title)}** · ${escaped(place)}`, note(message ?? '')]
    .filter(Boolean)
    .join('\n\n');
}

/** Text in one line, in which nothing is markup. */
function escaped(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\\`*_[\]<>#|~$]/g, '\\$&');
}

function note(text: string): string {
  return text ? `> *${escaped(text)}*` : '';
}

/** What a person wrote, line by line as it was written. */
function quoted(text: string): string {
  return text
    .trim()
    .split('\n')
    .map(line => `> ${line}`.trimEnd())
    .join('  \n');
}

function linked(name: string, uri: string): string {
  return /^(https?|file):/i.test(uri)
    ? `[${escaped(name)}](<${uri.replace(/[<>\s]/g, encodeURIComponent)}>)`
    : escaped(name);
}

interface IPiece {
  text: string;
}

interface ICodePiece extends IPiece {
  language: string;
  code: string;
}

/** Markdown taken apart at its fenced blocks; those in lists stay there. */
function codeBlocks(text: string): (IPiece | ICodePiece)[] {
  const pieces: (IPiece | ICodePiece)[] = [];
  let lines: string[] = [];
  let fence = '';
  let language = '';
  for (const line of text.split('\n')) {
    const [, mark = '', info = ''] = /^(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
    if (!fence && mark) {
      pieces.push({ text: lines.join('\n').trim() });
      lines = [line];
      fence = mark;
      language = info.trim().split(/\s/)[0];
    } else if (fence && mark.startsWith(fence) && !info.trim()) {
      const code = lines.slice(1).join('\n');
      pieces.push({ text: [...lines, line].join('\n'), language, code });
      lines = [];
      fence = '';
    } else {
      lines.push(line);
    }
  }
  pieces.push({ text: lines.join('\n').trim() });
  return pieces;
}

const ALIASES = new Map<string, string>([
  ['py', 'python'],
  ['python3', 'python'],
  ['ipython', 'python'],
  ['jl', 'julia'],
  ['sh', 'bash'],
  ['shell', 'bash'],
  ['js', 'javascript'],
  ['ts', 'typescript']
]);

function isLanguage(info: string, language: string): boolean {
  const name = (text: string) => {
    const lower = text.toLowerCase();
    return ALIASES.get(lower) ?? lower;
  };
  return name(info) === name(language);
}
