// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type { TranslationBundle } from '@jupyterlab/translation';
import type { ToolKind } from '@agentclientprotocol/sdk';

import type { IPermission } from '../decode/questions';
import type { IToolCall } from './call';

/** The tools that our server gives to agents, and what kind of thing each does. */
const KINDS = new Map<string, ToolKind>([
  ['open_documents', 'read'],
  ['recent_documents', 'read'],
  ['active_document', 'read'],
  ['read_notebook', 'read'],
  ['create_notebook', 'edit'],
  ['edit_cell', 'edit'],
  ['insert_cell', 'edit'],
  ['delete_cell', 'edit'],
  ['move_cell', 'edit'],
  ['save_document', 'edit'],
  ['run_cell', 'execute'],
  ['run_cells', 'execute'],
  ['run_code', 'execute'],
  ['restart_kernel', 'execute'],
  ['interrupt_kernel', 'execute'],
  ['read_variables', 'read'],
  ['cell_output', 'read'],
  ['list_kernels', 'read'],
  ['show_document', 'read']
]);

const NAMES = [...KINDS.keys()].join('|');

/** Nobody spells a tool's name longer. */
const MAX_LENGTH = 120;

/** How agents call a tool of ours: by its name, and by that of its server. */
const SPELLINGS = [
  new RegExp(`^(${NAMES})$`),
  new RegExp(
    `^(?:Tool: )?(?:mcp[_./:-]+)?jupyter[\\w-]*?[_./:-]+(${NAMES})$`,
    'i'
  ),
  new RegExp(`^(${NAMES}) \\(jupyter[\\w -]* MCP Server\\)$`, 'i')
];

/** What agents call servers and tools. */
const NAME = '[A-Za-z\\d](?:[\\w-]*?[A-Za-z\\d])?';

/** How agents call a tool of any MCP server, where it can be told from the server. */
const MCP_SPELLINGS = [
  `(?:mcp__)?(?<server>${NAME})__(?<tool>${NAME})`,
  `mcp\\.(?<server>${NAME})\\.(?<tool>${NAME})`,
  `Tool: (?<server>${NAME})/(?<tool>${NAME})`,
  `(?<tool>${NAME}) \\((?<server>${NAME}(?: ${NAME})*) MCP Server\\)`,
  // One line only: without knowing the tools, it might end anywhere.
  `(?:mcp_)?(?<server>jupyter[\\w-]*?)_(?<tool>${NAMES})`
].map(spelling => new RegExp(`^${spelling}$`));

/** Which of our tools a name means, in any agent's spelling; null if none. */
export function ownTool(name: string): string | null {
  const found =
    name.length <= MAX_LENGTH &&
    SPELLINGS.map(spelling => spelling.exec(name.trim())).find(Boolean);
  return found ? found[1].toLowerCase() : null;
}

export function ownKind(tool: string): ToolKind {
  return KINDS.get(tool) ?? 'other';
}

/** What one of our tools does, in words. */
export function ownWords(tool: string, trans: TranslationBundle): string {
  const words = new Map<string, string>([
    ['open_documents', trans.__('List open documents')],
    ['recent_documents', trans.__('List recent documents')],
    ['active_document', trans.__('Look at the active document')],
    ['read_notebook', trans.__('Read notebook')],
    ['create_notebook', trans.__('Create notebook')],
    ['edit_cell', trans.__('Edit cell')],
    ['insert_cell', trans.__('Insert cell')],
    ['delete_cell', trans.__('Delete cell')],
    ['move_cell', trans.__('Move cell')],
    ['save_document', trans.__('Save document')],
    ['run_cell', trans.__('Run cell')],
    ['run_cells', trans.__('Run cells')],
    ['run_code', trans.__('Run code')],
    ['restart_kernel', trans.__('Restart kernel')],
    ['interrupt_kernel', trans.__('Interrupt kernel')],
    ['read_variables', trans.__('Read variables')],
    ['cell_output', trans.__('Read cell output')],
    ['list_kernels', trans.__('List kernels')],
    ['show_document', trans.__('Show document')]
  ]);
  return words.get(tool) ?? tool;
}

/** Some agents put what a tool is called with where its title should be. */
export function isJsonTitle(title: string): boolean {
  return /^\s*(\{\s*["}]|\[\s*[[{"\]])/.test(title);
}

/** What a call is about, in words that people read; empty if it never says. */
export function callWords(
  { title, toolName }: Pick<IToolCall, 'title' | 'toolName'>,
  trans: TranslationBundle
): string {
  const said = saidOf({ title, toolName });
  const tool = ownTool(said);
  return tool ? ownWords(tool, trans) : mcpWords(said, trans);
}

/**
 * What an agent asks about; empty if it never says. Our own words are used only
 * where the server is certain: a title may be what the model has made up.
 */
export function permissionWords(
  { call, explained: { tool, title } }: IPermission,
  trans: TranslationBundle
): string {
  return tool
    ? title || ownWords(tool, trans)
    : mcpWords(saidOf({ title: '', ...call }), trans);
}

/** A tool's name with that of its server, in words; anything else as it is. */
function mcpWords(said: string, trans: TranslationBundle): string {
  const found =
    said.length <= MAX_LENGTH &&
    MCP_SPELLINGS.map(spelling => spelling.exec(said)).find(Boolean);
  const { server, tool } = (found || undefined)?.groups ?? {};
  return tool ? trans.__('Use the tool %1 of “%2”', tool, server) : said;
}

function saidOf({
  title,
  toolName = ''
}: Pick<IToolCall, 'title' | 'toolName'>): string {
  return title !== '' && !isJsonTitle(title) ? title : toolName;
}
