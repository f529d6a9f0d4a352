// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { removeMath } from '@jupyterlab/rendermime';

import { MarkdownBlocks } from '../../src/ui/blocks';

describe('formulas', () => {
  it.each([
    '$$\na\n$$\n\n$$b$$ and $c$\n\n$$\nd\n\ne\n$$\n\n$f$\n',
    'costs $$5\n\n$$a$$\n\n$1 or\n\n$2\n\n\\begin{align}a\\end{align}\n'
  ])('are in the blocks those that JupyterLab finds in all: %j', text => {
    const blocks = new MarkdownBlocks();
    blocks.append(text);
    const { finished, open } = blocks;
    expect(finished.length).toBeGreaterThan(3);
    const { math } = removeMath(text);
    expect(math.length).toBeGreaterThan(1);
    expect([...finished, open].flatMap(each => removeMath(each).math)).toEqual(
      math
    );
  });
});
