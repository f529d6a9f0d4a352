// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import { AnsiText, type IAnsiBlock, type IAnsiRun } from './ansi';
import type { AnsiColor, IAnsiStyle } from './ansistyle';
import { useChat } from './context';

/** As JupyterLab names the colours of its outputs. */
const COLORS = [
  'black',
  'red',
  'green',
  'yellow',
  'blue',
  'magenta',
  'cyan',
  'white'
];

/** Nearer to the end than this, the view follows what is printed. */
const NEAR_END_PX = 24;

interface IPrintedTextProps {
  label: string;
  output: AnsiText | undefined;
}

/** What was printed; it stays at its end unless the person scrolls up. */
export function PrintedText({ label, output }: IPrintedTextProps): JSX.Element {
  const { trans } = useChat();
  const node = React.useRef<HTMLDivElement>(null);
  const follows = React.useRef(true);
  // Whenever something was printed; what is shown changes for no other reason.
  React.useLayoutEffect(() => {
    if (node.current && follows.current) {
      node.current.scrollTop = node.current.scrollHeight;
    }
  });
  return (
    <div
      ref={node}
      className="jp-acp-Terminal jp-RenderedText"
      tabIndex={0}
      role="group"
      aria-label={label}
      onScroll={({
        currentTarget: { scrollHeight, scrollTop, clientHeight }
      }) => {
        follows.current = scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
      }}
    >
      {output?.isCut && (
        <p className="jp-acp-Terminal-cut">
          {trans.__('The output is too long; only its end is kept.')}
        </p>
      )}
      <pre>
        {output?.blocks.map(block => (
          <Lines key={block.key} block={block} count={block.lines} />
        ))}
        <Runs runs={output?.open ?? []} />
      </pre>
    </div>
  );
}

interface IPrintedProps {
  label: string;
  lines: readonly string[];
}

/** Lines that a program printed, all of them at once. */
export function Printed({ label, lines }: IPrintedProps): JSX.Element {
  const output = React.useMemo(() => {
    const text = new AnsiText();
    text.append(lines.join('\n'));
    return text;
  }, [lines]);
  return <PrintedText label={label} output={output} />;
}

interface ILinesProps {
  block: IAnsiBlock;
  /** Lines are only ever added: this is what tells that some were. */
  count: number;
}

const Lines = React.memo(function Lines({ block }: ILinesProps): JSX.Element {
  return <Runs runs={block.runs} />;
});

function Runs({ runs }: { runs: readonly IAnsiRun[] }): JSX.Element {
  return (
    <>
      {runs.map(({ text, style }, index) => {
        const looks = toLooks(style);
        return looks ? (
          <span key={index} {...looks}>
            {text}
          </span>
        ) : (
          text
        );
      })}
    </>
  );
}

interface ILooks {
  className: string;
  style: React.CSSProperties;
}

function toLooks(style: IAnsiStyle): ILooks | null {
  const classes: string[] = [];
  const css: React.CSSProperties = {};
  const paint = (color: AnsiColor | undefined, end: 'fg' | 'bg'): void => {
    if (typeof color === 'number') {
      const intense = color > 7 ? '-intense' : '';
      classes.push(`ansi-${COLORS[color % 8]}${intense}-${end}`);
    } else if (color !== undefined) {
      css[end === 'fg' ? 'color' : 'backgroundColor'] = color;
    } else if (style.isInverse) {
      classes.push(`ansi-default-inverse-${end}`);
    }
  };
  const { foreground, background, isInverse } = style;
  paint(isInverse ? background : foreground, 'fg');
  paint(isInverse ? foreground : background, 'bg');
  if (style.isBold) {
    classes.push('ansi-bold');
  }
  if (style.isUnderlined) {
    classes.push('ansi-underline');
  }
  if (style.isItalic) {
    css.fontStyle = 'italic';
  }
  if (style.isDim) {
    css.opacity = 0.7;
  }
  return classes.length || Object.keys(css).length
    ? { className: classes.join(' '), style: css }
    : null;
}
