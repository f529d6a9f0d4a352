// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import {
  type IRenderMime,
  MimeModel,
  RenderMimeRegistry,
  errorRendererFactory,
  htmlRendererFactory,
  imageRendererFactory,
  latexRendererFactory,
  markdownRendererFactory,
  textRendererFactory
} from '@jupyterlab/rendermime';
import { Widget } from '@lumino/widgets';

import type { IChatContext } from './context';
import { inertParser } from './parser';
import { strictSanitizer } from './sanitizer';

/** What there is of the chat where outputs are shown. */
export type OutputContext = Pick<
  IChatContext,
  'rendermime' | 'languages' | 'trans'
>;

type Factory = IRenderMime.IRendererFactory;

const IMAGES: Factory = {
  ...imageRendererFactory,
  mimeTypes: ['image/png', 'image/jpeg', 'image/gif']
};

/** Anything else that there is of an output tells more than that it is not shown. */
const LAST_RANK = 1000;

/**
 * Renders outputs that an agent may have written. Most renderers run or fetch
 * something: those of a few types do not, and the other types are only named.
 */
export function inertRendermime(
  types: readonly string[],
  { rendermime, languages, trans }: OutputContext
): RenderMimeRegistry {
  const { sanitizer, latexTypesetter, markdownParser } = rendermime;
  // Plain text has no markup but the colours that JupyterLab makes of it.
  const coloured = [textRendererFactory, errorRendererFactory].map(
    (factory): Factory => ({
      ...factory,
      createRenderer: options =>
        factory.createRenderer({ ...options, sanitizer })
    })
  );
  const shown = [
    htmlRendererFactory,
    markdownRendererFactory,
    latexRendererFactory,
    IMAGES,
    ...coloured
  ];
  const known = new Set(shown.flatMap(({ mimeTypes }) => mimeTypes));
  const others: Factory = {
    safe: true,
    mimeTypes: types.filter(type => !known.has(type)),
    defaultRank: LAST_RANK,
    createRenderer: ({ mimeType }) =>
      new NotShown(trans.__('An output of type %1 is not shown.', mimeType))
  };
  return new RenderMimeRegistry({
    initialFactories: [...shown.map(untrusting), others],
    sanitizer: strictSanitizer(sanitizer),
    latexTypesetter: latexTypesetter ?? undefined,
    markdownParser: inertParser(markdownParser, languages) ?? undefined
  });
}

/** With trust, JupyterLab would neither sanitise nor hesitate to run scripts. */
function untrusting(factory: Factory): Factory {
  return {
    ...factory,
    createRenderer: options => {
      const renderer = factory.createRenderer(options);
      const render = renderer.renderModel.bind(renderer);
      renderer.renderModel = ({ data, metadata }) =>
        render(new MimeModel({ data, metadata, trusted: false }));
      return renderer;
    }
  };
}

class NotShown extends Widget implements IRenderMime.IRenderer {
  constructor(words: string) {
    super();
    this.addClass('jp-acp-NotShown');
    this.node.textContent = words;
  }

  renderModel(): Promise<void> {
    return Promise.resolve();
  }
}
