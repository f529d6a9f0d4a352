// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import { diffStat, lineDiff } from '../model/diff';
import type { IToolDiff } from '../protocol';
import { useChat } from './context';
import { Visible } from './visible';

const SIGN = { same: ' ', added: '+', removed: '-', skipped: '⋯' } as const;

interface IDiffProps {
  diff: IToolDiff;
}

/** What an edit changes, line by line. */
export const Diff = React.memo(function Diff({
  diff
}: IDiffProps): JSX.Element {
  const { trans } = useChat();
  const lines = React.useMemo(
    () => lineDiff(diff.oldText ?? '', diff.newText),
    [diff.oldText, diff.newText]
  );
  const { added, removed } = diffStat(lines);
  return (
    <figure
      className="jp-acp-Diff"
      aria-label={trans.__('Change of %1', diff.path)}
    >
      <figcaption className="jp-acp-Diff-header" title={diff.path}>
        <span className="jp-acp-Diff-path">
          <bdi dir="ltr">
            <Visible text={diff.path} />
          </bdi>
        </span>
        <span className="jp-acp-Diff-added">+{added}</span>
        <span className="jp-acp-Diff-removed">−{removed}</span>
      </figcaption>
      <div className="jp-acp-Diff-body" tabIndex={0} role="group">
        {lines.map((line, index) => (
          <div
            key={index}
            className={`jp-acp-Diff-line jp-acp-mod-${line.kind}`}
          >
            <span className="jp-acp-Diff-sign">{SIGN[line.kind]}</span>
            <Visible text={line.text} />
          </div>
        ))}
      </div>
    </figure>
  );
});
