// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import type { IRemoteProgress } from '../protocol';
import { useChat } from '../ui/context';
import { Visible } from '../ui/visible';

interface IGitProgressProps {
  /** What all of it is for. */
  label: string;
  /** Nothing as long as git has said nothing. */
  progress: IRemoteProgress | undefined;
}

/** How far git is, in its own words; it does not always know. */
export function GitProgressBar({
  label,
  progress
}: IGitProgressProps): JSX.Element {
  const { trans } = useChat();
  const { stage = '', percent, detail } = progress ?? {};
  const isKnown = typeof percent === 'number';
  const words = isKnown ? trans.__('%1 %2 %', stage, percent) : stage;
  return (
    <div className="jp-acp-GitProgress">
      <span>{label}</span>
      <div
        className={`jp-acp-GitProgress-bar ${isKnown ? '' : 'jp-acp-mod-unknown'}`}
        role="progressbar"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={isKnown ? percent : undefined}
        aria-valuetext={words || undefined}
      >
        <div style={isKnown ? { width: `${percent}%` } : undefined} />
      </div>
      <span className="jp-acp-Row-detail">
        <Visible text={[words, detail].filter(Boolean).join(' · ')} />
      </span>
    </div>
  );
}
