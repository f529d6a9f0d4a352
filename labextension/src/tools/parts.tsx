// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import { MadeChange, ProposedChange } from '../changes/change';
import { Boundary } from '../ui/boundary';
import { Code } from '../ui/code';
import { Content } from '../ui/content';
import { useChat } from '../ui/context';
import { hasHidden } from '../ui/hidden';
import { useFrameUpdates } from '../ui/hooks';
import { WholeMarkdown } from '../ui/markdown';
import { useSession } from '../ui/session';
import { Dropped } from '../ui/unreadable';
import type { IToolCall } from './call';
import { codeIn } from './input';
import { RawDetails } from './raw';
import {
  type IPartsProps,
  type IPartsRenderer,
  type ISection,
  ToolRenderers
} from './renderers';
import { Terminal } from './terminal';

interface IToolTextProps {
  text: string;
  /** Somebody decides by it: it must be there letter by letter. */
  isAsked: boolean;
}

/**
 * Text of a tool call: Markdown, unless that could hide something. Comments,
 * the targets of links and characters written as entities are never seen in it.
 */
const ToolText = React.memo(function ToolText({
  text,
  isAsked
}: IToolTextProps): JSX.Element {
  const { trans } = useChat();
  const isLiteral = isAsked || hasHidden(text);
  const block = isLiteral ? codeIn(text) : null;
  if (block) {
    const { cell, code, language } = block;
    return (
      <>
        {cell && (
          <div className="jp-acp-Fold-title">{trans.__('Cell %1', cell)}</div>
        )}
        <Code text={code} language={language || undefined} />
      </>
    );
  }
  return isLiteral ? (
    <Content block={{ type: 'text', text }} />
  ) : (
    <div className="jp-acp-Tool-text">
      <WholeMarkdown text={text} />
    </div>
  );
});

function Diffs({
  parts,
  changes,
  revision,
  isAsked
}: IPartsProps): JSX.Element {
  return (
    <>
      {parts.map(({ index, content }) => {
        const change = changes?.get(index);
        return change ? (
          <MadeChange key={index} change={change} revision={revision} />
        ) : (
          content.type === 'diff' && (
            <ProposedChange key={index} diff={content} isAsked={isAsked} />
          )
        );
      })}
    </>
  );
}

function Contents({ parts, isAsked }: IPartsProps): JSX.Element {
  return (
    <>
      {parts.map(({ index, content: part }) =>
        part.type !== 'content' ? null : part.content.type === 'text' ? (
          <ToolText key={index} text={part.content.text} isAsked={isAsked} />
        ) : (
          <Content key={index} block={part.content} />
        )
      )}
    </>
  );
}

/** The commands that the call names, or those that its agent runs itself. */
function TerminalParts({ call, parts }: IPartsProps): JSX.Element {
  const ids =
    parts.length > 0
      ? parts.flatMap(({ content }) =>
          content.type === 'terminal' ? [content.terminalId] : []
        )
      : otherTerminals(call);
  return (
    <>
      {ids.map((id, index) => (
        <Terminal key={index} terminal={call.terminals[id]} />
      ))}
    </>
  );
}

function otherTerminals({ content, terminals }: IToolCall): string[] {
  const named = new Set(
    content.map(part => (part.type === 'terminal' ? part.terminalId : ''))
  );
  return Object.keys(terminals).filter(id => !named.has(id));
}

function Raw({ item }: IPartsProps): JSX.Element | null {
  return item ? <RawDetails item={item} /> : null;
}

/** What this package draws itself, by the same means as others. */
const OWN: readonly IPartsRenderer[] = [
  {
    id: 'diff',
    rank: 100,
    matches: ({ content }) => content.some(({ type }) => type === 'diff'),
    takes: ({ type }) => type === 'diff',
    Component: Diffs
  },
  {
    id: 'terminal',
    rank: 101,
    matches: call =>
      otherTerminals(call).length > 0 ||
      call.content.some(({ type }) => type === 'terminal'),
    takes: ({ type }) => type === 'terminal',
    Component: TerminalParts
  },
  {
    id: 'content',
    rank: 102,
    matches: ({ content }) => content.some(({ type }) => type === 'content'),
    takes: ({ type }) => type === 'content',
    Component: Contents
  },
  {
    id: 'raw',
    rank: 1000,
    matches: () => true,
    isExtra: true,
    Component: Raw
  }
];

/** What is asked for permission is drawn by our own alone. */
const NONE = new ToolRenderers();

export const RenderersContext = React.createContext(NONE);

type IToolPartsProps = Omit<IPartsProps, 'parts' | 'session'>;

/** Everything that a call shows, by whoever draws it. */
export function ToolParts(props: IToolPartsProps): JSX.Element {
  const { call, isAsked } = props;
  const added = React.useContext(RenderersContext);
  const renderers = isAsked ? NONE : added;
  useFrameUpdates(renderers.changed);
  const session = useSession();
  const [failed, setFailed] = React.useState<ReadonlySet<string>>(new Set());
  const show = ({ renderer, parts }: ISection): JSX.Element => {
    const key = `${renderer.id} ${parts.at(0)?.index ?? ''}`;
    const view = (
      <renderer.Component
        key={key}
        {...props}
        session={session}
        parts={parts}
      />
    );
    // What is asked must be there as a whole: an error is the card's.
    return isAsked ? (
      view
    ) : (
      <Boundary
        key={key}
        stamp={props.revision}
        fallback={() =>
          OWN.includes(renderer) ? (
            <Dropped parts={parts.map(({ content }) => content)} />
          ) : (
            <Failed
              onFailed={() => setFailed(new Set([...failed, renderer.id]))}
            />
          )
        }
      >
        {view}
      </Boundary>
    );
  };
  return <>{renderers.sections(call, OWN, failed).map(show)}</>;
}

/** Lets the next renderer draw in place of one that failed. */
function Failed({ onFailed }: { onFailed: () => void }): null {
  React.useEffect(onFailed, [onFailed]);
  return null;
}
