// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Dialog, showDialog } from '@jupyterlab/apputils';
import {
  Button,
  type LabIcon,
  checkIcon,
  launchIcon,
  redoIcon,
  undoIcon
} from '@jupyterlab/ui-components';
import * as React from 'react';
import type { Diff as DiffContent } from '@agentclientprotocol/sdk';

import { useChat } from '../ui/context';
import { Location } from '../ui/location';
import { Near } from '../ui/near';
import { type Decision, type IChange, deletesFile, partsFor } from './changes';
import { useChanges } from './context';
import { Diff, PlainDiff } from './diff';
import { type IFileChange, type IPart, reviewOf } from './review';

/**
 * Of a change in many places, this many are shown at first, or at once: some
 * hundred editors would keep the page busy for a minute.
 */
const SHOWN_PARTS = 12;

interface IChangeProps {
  change: IFileChange;
}

interface IProposedChangeProps {
  diff: DiffContent;
  /** Somebody decides by it: all of it must be there. */
  isAsked: boolean;
}

/** A change that is not made yet: seen, and nothing to be done about it here. */
export function ProposedChange({
  diff,
  isAsked
}: IProposedChangeProps): JSX.Element {
  const { path, oldText = null, newText } = diff;
  const change = React.useMemo(
    () => ({ path, oldText, newText }),
    [path, oldText, newText]
  );
  return (
    <ChangeFrame change={change}>
      <Parts change={change} isWhole={isAsked} />
    </ChangeFrame>
  );
}

interface IMadeChangeProps {
  change: IChange;
  /** Verdicts change in place: this is what tells that one did. */
  revision: number;
}

/** A change that was made: each part can be kept or undone. */
export function MadeChange({ change }: IMadeChangeProps): JSX.Element {
  const { trans } = useChat();
  const { session, viewer } = useChanges();
  return (
    <ChangeFrame
      change={change}
      actions={
        <>
          <Decisions change={change} />
          {viewer && (
            <ActionButton
              icon={launchIcon}
              label={trans.__('Open the change in a tab')}
              onClick={() => viewer.open(session, change)}
            />
          )}
        </>
      }
    >
      <Parts
        change={change}
        actionsOf={part => <Decisions change={change} part={part} />}
        isUndone={part => change.verdicts.get(part.id) === 'undone'}
      />
    </ChangeFrame>
  );
}

interface IDecisionsProps {
  change: IChange;
  /** All of them if left out. */
  part?: IPart;
}

/** What can be done about a change, or about a part of it. */
export function Decisions({ change, part }: IDecisionsProps): JSX.Element {
  const { trans } = useChat();
  const { session } = useChanges();
  const [isBusy, setBusy] = React.useState(false);
  const partsOf = (decision: Decision): string[] =>
    session.mayDecide
      ? partsFor(change, decision).filter(id => !part || id === part.id)
      : [];
  const decide = async (decision: Decision): Promise<void> => {
    const parts = partsOf(decision);
    const isDeleted = decision === 'undo' && deletesFile(change, parts);
    if (isDeleted && !(await mayDelete([change], trans))) {
      return;
    }
    setBusy(true);
    await session.decide(change, parts, decision);
    setBusy(false);
  };
  const name = part
    ? trans.__('%1 of %2', partTitle(part, trans), basename(change.path))
    : basename(change.path);
  return (
    <>
      {partsOf('keep').length > 0 && (
        <ActionButton
          icon={checkIcon}
          label={trans.__('Keep: %1', name)}
          isDisabled={isBusy}
          onClick={() => void decide('keep')}
        />
      )}
      {partsOf('undo').length > 0 && (
        <ActionButton
          icon={undoIcon}
          label={trans.__('Undo: %1', name)}
          isDisabled={isBusy}
          onClick={() => void decide('undo')}
        />
      )}
      {partsOf('undo').length === 0 && partsOf('redo').length > 0 && (
        <ActionButton
          icon={redoIcon}
          label={trans.__('Redo: %1', name)}
          isDisabled={isBusy}
          onClick={() => void decide('redo')}
        />
      )}
    </>
  );
}

/** Undoing that files were made deletes them: that is asked first. */
export async function mayDelete(
  made: readonly IChange[],
  trans: Trans
): Promise<boolean> {
  if (made.length === 0) {
    return true;
  }
  const { button } = await showDialog({
    title: trans._n('Delete the file?', 'Delete %1 files?', made.length),
    body: trans.__(
      'Undo deletes %1, which the agent reported as created.',
      made.map(({ path }) => basename(path)).join(', ')
    ),
    buttons: [
      Dialog.cancelButton(),
      Dialog.warnButton({ label: trans.__('Delete') })
    ]
  });
  return button.accept;
}

interface IActionButtonProps {
  icon: LabIcon;
  label: string;
  isDisabled?: boolean;
  onClick: () => void;
}

function ActionButton({
  icon,
  label,
  isDisabled,
  onClick
}: IActionButtonProps): JSX.Element {
  return (
    <Button
      minimal
      small
      className="jp-acp-Action"
      title={label}
      aria-label={label}
      disabled={isDisabled}
      onClick={onClick}
    >
      <icon.react tag="span" />
    </Button>
  );
}

interface IFrameProps extends IChangeProps {
  actions?: React.ReactNode;
  children: React.ReactNode;
}

function ChangeFrame({ change, actions, children }: IFrameProps): JSX.Element {
  const { trans } = useChat();
  const { added, removed } = reviewOf(change);
  return (
    <figure
      className="jp-acp-Change"
      aria-label={trans.__('Change of %1', change.path)}
    >
      <figcaption className="jp-acp-Change-header">
        <Location path={change.path} />
        <span className="jp-acp-Change-added">+{added}</span>
        <span className="jp-acp-Change-removed">−{removed}</span>
        {actions && <span className="jp-acp-Actions">{actions}</span>}
      </figcaption>
      {children}
    </figure>
  );
}

interface IPartsProps extends IChangeProps {
  isWhole?: boolean;
  actionsOf?: (part: IPart) => React.ReactNode;
  isUndone?: (part: IPart) => boolean;
}

/** What became of a file, place by place or cell by cell. */
export function Parts({
  change,
  isWhole = false,
  actionsOf,
  isUndone
}: IPartsProps): JSX.Element {
  const { trans } = useChat();
  const review = reviewOf(change);
  const [limit, setLimit] = React.useState(isWhole ? Infinity : SHOWN_PARTS);
  const hasTitles = review.notebooks !== undefined || review.parts.length > 1;
  const rest = review.parts.length - limit;
  if (review.parts.length === 0) {
    return <p className="jp-acp-Part-none">{trans.__('Nothing changed.')}</p>;
  }
  const diffOf = (part: IPart): JSX.Element => (
    <Diff
      path={change.path}
      oldText={part.oldText}
      newText={part.newText}
      oldLine={part.oldLine}
      newLine={part.newLine}
      language={languageOf(part, review.language)}
      isFolded={part.isRest}
    />
  );
  return (
    <>
      {review.parts.slice(0, limit).map((part, index) => (
        <section
          key={part.id}
          className={`jp-acp-Part ${isUndone?.(part) ? 'jp-acp-mod-undone' : ''}`}
          aria-label={partTitle(part, trans)}
        >
          {hasTitles && (
            <div className="jp-acp-Part-header">
              <span>{partTitle(part, trans)}</span>
              {actionsOf && (
                <span className="jp-acp-Actions">{actionsOf(part)}</span>
              )}
            </div>
          )}
          {!isUndone?.(part) &&
            (index < SHOWN_PARTS ? (
              diffOf(part)
            ) : (
              <Near instead={<PlainDiff {...part} />}>{diffOf(part)}</Near>
            ))}
        </section>
      ))}
      {rest > 0 && (
        <button
          type="button"
          className="jp-acp-More"
          onClick={() => setLimit(Infinity)}
        >
          {trans._n('Show %1 more change', 'Show %1 more changes', rest)}
        </button>
      )}
    </>
  );
}

type Trans = ReturnType<typeof useChat>['trans'];

/** Which part of a file or notebook it is, in words. */
export function partTitle(part: IPart, trans: Trans): string {
  const { cell, status, isRest } = part;
  if (isRest) {
    return trans.__('Outputs and metadata');
  }
  if (!cell) {
    const count = part.newText.split('\n').length - 1;
    return trans.__(
      'Lines %1–%2',
      part.newLine,
      part.newLine + Math.max(count, 1) - 1
    );
  }
  const words = {
    added: trans.__('Cell %1, added', cell.number),
    removed: trans.__('Cell %1, removed', cell.number),
    moved: trans.__('Cell %1, moved', cell.number),
    changed: trans.__('Cell %1', cell.number)
  };
  return words[status];
}

/** Of a piece of a notebook's source nothing is known but what is usual. */
function languageOf(part: IPart, notebook?: string): string | undefined {
  if (part.isRest) {
    return 'json';
  }
  if (!part.cell) {
    return undefined;
  }
  return part.cell.type === 'code' ? (notebook ?? 'python') : 'markdown';
}

function basename(path: string): string {
  return path.split('/').at(-1) || path;
}
