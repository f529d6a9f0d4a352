// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { MimeModel } from '@jupyterlab/rendermime';
import * as React from 'react';

import type { MarkdownBlocks } from '../model/blocks';
import { addCodeBars } from './codebar';
import { useChat } from './context';

const MARKDOWN = 'text/markdown';

/** Rendering may take a quarter of the time, typing gets the rest. */
const REST_FACTOR = 3;

interface IBlockProps {
  text: string;
}

/**
 * One block, rendered and sanitised by JupyterLab.
 *
 * Each rendering happens off screen and is then swapped in, so that growing
 * text never flickers; while one is under way, only the newest text waits.
 */
const MarkdownBlock = React.memo(function MarkdownBlock({
  text
}: IBlockProps): JSX.Element {
  const { rendermime, code, trans } = useChat();
  const host = React.useRef<HTMLDivElement>(null);
  const wanted = React.useRef(text);
  const isRendering = React.useRef(false);
  const isMounted = React.useRef(true);

  React.useEffect(() => {
    isMounted.current = true;
    return () => {
      isMounted.current = false;
    };
  }, []);

  React.useEffect(() => {
    wanted.current = text;
    if (isRendering.current) {
      return;
    }
    const renderNewest = async (): Promise<void> => {
      const source = wanted.current;
      const start = performance.now();
      // eslint-disable-next-line jupyter/require-disposable-transfer
      const renderer = rendermime.createRenderer(MARKDOWN);
      try {
        await renderer.renderModel(
          new MimeModel({ data: { [MARKDOWN]: source }, trusted: false })
        );
        host.current?.replaceChildren(...renderer.node.childNodes);
        if (host.current) {
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
      const rest = (performance.now() - start) * REST_FACTOR;
      await new Promise(resolve => setTimeout(resolve, rest));
      if (isMounted.current && wanted.current !== source) {
        await renderNewest();
      }
    };
    isRendering.current = true;
    void renderNewest().finally(() => {
      isRendering.current = false;
    });
  }, [text, rendermime, code, trans]);

  return (
    <div
      ref={host}
      className="jp-acp-Markdown jp-RenderedHTMLCommon jp-RenderedMarkdown"
    />
  );
});

interface IMarkdownProps {
  blocks: MarkdownBlocks;
  /** Changes whenever the blocks do: they change in place. */
  revision: number;
}

/** Markdown that is there as a whole. */
export function WholeMarkdown({ text }: IBlockProps): JSX.Element {
  return <MarkdownBlock text={text} />;
}

/** Growing markdown of which only the open block is rendered again. */
export const Markdown = React.memo(function Markdown({
  blocks
}: IMarkdownProps): JSX.Element {
  return (
    <>
      {blocks.finished.map((text, index) => (
        <MarkdownBlock key={index} text={text} />
      ))}
      {blocks.open.trim() && (
        <MarkdownBlock key={blocks.finished.length} text={blocks.open} />
      )}
    </>
  );
});
