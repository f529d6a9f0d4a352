// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import type { IUsage } from '../protocol';
import { useChat } from '../ui/context';

const RADIUS = 6;
const LENGTH = 2 * Math.PI * RADIUS;

/** From here on the agent will soon have to forget. */
const HIGH = 0.75;
const FULL = 0.9;

interface IUsageProps {
  usage: IUsage;
}

/** A ring that fills as the agent's memory does. */
export const Usage = React.memo(function Usage({
  usage
}: IUsageProps): JSX.Element {
  const { trans } = useChat();
  const share = Math.min(usage.used / usage.size, 1);
  const level = share >= FULL ? 'full' : share >= HIGH ? 'high' : 'low';
  const percent = Math.round(share * 100);
  const words = [
    amountWords(usage, percent, trans),
    ...(usage.cost ? [trans.__('Cost so far: %1', money(usage.cost))] : []),
    ...(level === 'full'
      ? [
          trans.__(
            'The context window is almost full; the agent will soon forget earlier messages.'
          )
        ]
      : [])
  ].join('\n');
  return (
    <span
      className={`jp-acp-Usage jp-acp-mod-${level}`}
      role="meter"
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent}
      aria-valuetext={words}
      aria-label={trans.__('Context window used')}
      title={words}
      // What a pointer finds by hovering, the keyboard finds by its focus.
      tabIndex={0}
    >
      <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
        <circle className="jp-acp-Usage-track" cx="8" cy="8" r={RADIUS} />
        <circle
          className="jp-acp-Usage-used"
          cx="8"
          cy="8"
          r={RADIUS}
          strokeDasharray={`${share * LENGTH} ${LENGTH}`}
          transform="rotate(-90 8 8)"
        />
      </svg>
      <span>{trans.__('%1 %', percent)}</span>
    </span>
  );
});

type Trans = ReturnType<typeof useChat>['trans'];

function amountWords(
  { used, size, unit }: IUsage,
  percent: number,
  trans: Trans
): string {
  const [some, all] = [used.toLocaleString(), size.toLocaleString()];
  return unit === 'characters'
    ? trans.__('%1 of %2 characters (%3 %)', some, all, percent)
    : trans.__('%1 of %2 tokens (%3 %)', some, all, percent);
}

function money({ amount, currency }: NonNullable<IUsage['cost']>): string {
  try {
    return amount.toLocaleString(undefined, {
      style: 'currency',
      currency,
      maximumFractionDigits: 4
    });
  } catch {
    // Not a currency that the browser has heard of.
    return `${amount} ${currency}`;
  }
}
