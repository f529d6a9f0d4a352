// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import { useChat } from './context';
import { hiddenParts } from './hidden';

/** Text of an agent in which nothing hides: what cannot be seen is named. */
export const Visible = React.memo(function Visible({
  text
}: {
  text: string;
}): JSX.Element {
  const { trans } = useChat();
  return (
    <>
      {hiddenParts(text).map((part, index) =>
        part.isHidden ? (
          <mark
            key={index}
            className="jp-acp-Hidden"
            title={trans.__('Invisible character')}
          >
            {part.text}
          </mark>
        ) : (
          part.text
        )
      )}
    </>
  );
});
