// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import {
  type IRenderMime,
  MimeModel,
  markdownRendererFactory
} from '@jupyterlab/rendermime';
import * as React from 'react';

import type { MarkdownBlocks } from './blocks';
import { addCodeBars } from './codebar';
import { type IChatContext, useChat } from './context';
import { inertParser } from './parser';
import { strictSanitizer } from './sanitizer';
import { useSession } from './session';

const MARKDOWN = 'text/markdown';

/** Rendering may take a quarter of the time, typing gets the rest. */
const REST_FACTOR = 3;

/** Nobody reads faster than this, and what streams in has better use for it. */
const MIN_REST_MS = 40;

interface IBlockProps {
  text: string;
  /** Whether more is to come: then there is no hurry. */
  isGrowing?: boolean;
}

/**
 * One block, rendered and sanitised by JupyterLab.
 *
 * Each rendering happens off screen and is then swapped in, so that growing
 * text never flickers; while one is under way, only the newest text waits.
 */
const MarkdownBlock = React.memo(function MarkdownBlock({
  text,
  isGrowing = false
}: IBlockProps): JSX.Element {
  const { rendermime, languages, code, trans } = useChat();
  const host = React.useRef<HTMLDivElement>(null);
  const [painter] = React.useState(
    () =>
      new Painter(async source => {
        // eslint-disable-next-line jupyter/require-disposable-transfer
        const renderer = createRenderer({ rendermime, languages });
        try {
          await renderer.renderModel(
            new MimeModel({ data: { [MARKDOWN]: source }, trusted: false })
          );
          if (host.current) {
            host.current.replaceChildren(...renderer.node.childNodes);
            addCodeBars(host.current, { code, trans });
            void rendermime.latexTypesetter?.typeset(host.current);
          }
        } catch (error) {
          console.warn('jupyter-acp: markdown could not be rendered', error);
          if (host.current) {
            host.current.textContent = source;
          }
        } finally {
          renderer.dispose();
        }
      })
  );
  React.useEffect(() => {
    painter.show(text, isGrowing);
  }, [painter, text, isGrowing]);
  React.useEffect(() => () => painter.stop(), [painter]);
  const onClick = useLinks();

  return (
    <div
      ref={host}
      className="jp-acp-Markdown jp-RenderedHTMLCommon jp-RenderedMarkdown"
      onClick={onClick}
    />
  );
});

/** JupyterLab's own renderer, stricter, also where an extension has another one. */
function createRenderer({
  rendermime,
  languages
}: Pick<IChatContext, 'rendermime' | 'languages'>): IRenderMime.IRenderer {
  const { sanitizer, latexTypesetter, markdownParser } = rendermime;
  return markdownRendererFactory.createRenderer({
    mimeType: MARKDOWN,
    resolver: null,
    linkHandler: null,
    sanitizer: strictSanitizer(sanitizer),
    latexTypesetter,
    markdownParser: inertParser(markdownParser, languages)
  });
}

/** Links to files open documents; others leave the page as it is. */
export function useLinks(): (event: React.MouseEvent) => void {
  const { opener } = useChat();
  const { info } = useSession();
  return event => {
    const link = (event.target as Element).closest('a');
    const target = link?.getAttribute('href');
    if (!link || !target) {
      return;
    }
    if (/^(https?|mailto):/i.test(target)) {
      link.target = '_blank';
      link.rel = 'noopener';
      return;
    }
    event.preventDefault();
    const place = opener?.find(target, info.cwd);
    if (opener && place) {
      void opener.open(place);
    }
  };
}

/** Paints the newest of growing texts, and rests after each. */
class Painter {
  constructor(private readonly _paint: (text: string) => Promise<void>) {}

  show(text: string, isGrowing: boolean): void {
    this._wanted = text;
    this._isGrowing = isGrowing;
    if (!isGrowing) {
      this._wake();
    }
    if (!this._isRunning) {
      this._isRunning = true;
      void this._run();
    }
  }

  stop(): void {
    this._wanted = this._painted;
    this._wake();
  }

  private async _run(): Promise<void> {
    while (this._wanted !== this._painted) {
      const text = this._wanted;
      const start = performance.now();
      await this._paint(text);
      this._painted = text;
      if (this._isGrowing) {
        const time = performance.now() - start;
        await this._rest(Math.max(MIN_REST_MS, time * REST_FACTOR));
      }
    }
    this._isRunning = false;
  }

  private _rest(time: number): Promise<void> {
    return new Promise(resolve => {
      const timer = setTimeout(resolve, time);
      this._wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  private _wanted = '';
  private _painted = '';
  private _isGrowing = false;
  private _isRunning = false;
  private _wake = (): void => undefined;
}

interface IMarkdownProps {
  blocks: MarkdownBlocks;
  /** Changes whenever the blocks do: they change in place. */
  revision: number;
  isGrowing?: boolean;
}

/** Markdown that is there as a whole. */
export function WholeMarkdown({ text }: IBlockProps): JSX.Element {
  return <MarkdownBlock text={text} />;
}

/** Growing markdown of which only the open block is rendered again. */
export const Markdown = React.memo(function Markdown({
  blocks,
  isGrowing = false
}: IMarkdownProps): JSX.Element {
  return (
    <>
      {blocks.finished.map((text, index) => (
        <MarkdownBlock key={index} text={text} />
      ))}
      {blocks.open.trim() && (
        <MarkdownBlock
          key={blocks.finished.length}
          text={blocks.open}
          isGrowing={isGrowing}
        />
      )}
    </>
  );
});
