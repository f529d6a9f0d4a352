// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import type { IRow } from './row';

/** How many rows come and go together. */
const CHUNK = 40;

/** How far from what is seen a chunk is still worth having. */
const MARGIN = '1200px 0px';

/** What a row that was never seen is taken for, in pixels. */
const ESTIMATE = 64;

/** How long what comes into the page may take to be painted. */
const PAINT_MS = 200;

interface IWindowedProps<T extends Readonly<IRow>> {
  rows: readonly T[];
  /** The element that scrolls. */
  scroller: React.RefObject<HTMLElement>;
  render: (row: T) => React.ReactNode;
  /** What the rows are of: another one has other rows, whatever their keys. */
  source: object;
  /** Changes when `render` would show an unchanged row in another way. */
  stamp: string;
}

/**
 * Rows of which only those near to what is seen are in the page, in chunks. A
 * chunk that leaves keeps its height; the browser's own scroll anchoring keeps
 * what is read in its place when one comes that has another height than thought.
 */
export function Windowed<T extends Readonly<IRow>>({
  rows,
  scroller,
  render,
  source,
  stamp
}: IWindowedProps<T>): JSX.Element {
  const chunks: JSX.Element[] = [];
  for (let start = 0; start < rows.length; start += CHUNK) {
    const end = Math.min(start + CHUNK, rows.length);
    chunks.push(
      <Chunk
        key={start}
        rows={rows}
        start={start}
        end={end}
        isLast={end === rows.length}
        state={stateOf(rows, start, end)}
        scroller={scroller}
        source={source}
        render={render as (row: Readonly<IRow>) => React.ReactNode}
        stamp={stamp}
      />
    );
  }
  return <>{chunks}</>;
}

/** The keys and revisions of some rows: they change in place, and leave no trace of before. */
function stateOf(
  rows: readonly Readonly<IRow>[],
  start: number,
  end: number
): number[] {
  const state: number[] = [];
  for (let index = start; index < end; index++) {
    state.push(rows[index].key, rows[index].revision);
  }
  return state;
}

function isSame(one: readonly number[], other: readonly number[]): boolean {
  return (
    one.length === other.length &&
    one.every((value, index) => value === other[index])
  );
}

interface IChunkProps {
  rows: readonly Readonly<IRow>[];
  start: number;
  end: number;
  isLast: boolean;
  /** Of its rows, as they are now. */
  state: readonly number[];
  source: object;
  scroller: React.RefObject<HTMLElement>;
  render: (row: Readonly<IRow>) => React.ReactNode;
  stamp: string;
}

const Chunk = React.memo(
  function Chunk({
    rows,
    start,
    end,
    isLast,
    scroller,
    render
  }: IChunkProps): JSX.Element {
    const node = React.useRef<HTMLDivElement>(null);
    const [isNear, setNear] = React.useState(false);
    const height = React.useRef((end - start) * ESTIMATE);
    React.useEffect(() => {
      const observer = new IntersectionObserver(
        entries => {
          if (!scroller.current?.offsetHeight) {
            // Hidden as a whole: what was near will be near again.
            return;
          }
          const entry = entries.at(-1)!;
          if (!entry.isIntersecting && node.current?.childElementCount) {
            height.current = node.current.offsetHeight;
          }
          setNear(entry.isIntersecting);
        },
        { root: scroller.current, rootMargin: MARGIN }
      );
      observer.observe(node.current!);
      return () => observer.disconnect();
    }, [scroller]);
    const isShown = isNear || isLast;
    const [isPainted, setPainted] = React.useState(isLast);
    React.useEffect(() => {
      // Markdown comes a moment later: until then, nothing moves into its place.
      const timer = setTimeout(
        () => setPainted(isShown),
        isShown ? PAINT_MS : 0
      );
      return () => clearTimeout(timer);
    }, [isShown]);
    const { current } = height;
    return (
      <div
        ref={node}
        className="jp-acp-Chunk"
        style={
          !isShown
            ? { height: current }
            : isPainted || isLast
              ? undefined
              : { minHeight: current }
        }
      >
        {isShown && rows.slice(start, end).map(render)}
      </div>
    );
  },
  (before, after) =>
    before.source === after.source &&
    isSame(before.state, after.state) &&
    before.isLast === after.isLast &&
    before.end === after.end &&
    before.stamp === after.stamp
);
