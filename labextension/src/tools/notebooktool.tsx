// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import { MadeChange } from '../changes/change';
import type { IRun, IToolRecord, IVariables } from '../decode/record';
import { Code } from '../ui/code';
import { useChat } from '../ui/context';
import { useKept } from '../ui/hooks';
import { Visible } from '../ui/visible';
import type { IToolItem } from './items';
import { Outputs } from './outputs';

interface INotebookToolProps {
  item: IToolItem;
  record: IToolRecord;
  revision: number;
}

/** What came of a call of one of our own tools, each shown as what it is. */
export function NotebookTool({
  item,
  record,
  revision
}: INotebookToolProps): JSX.Element {
  const { code, outputs, runs, variables } = record;
  return (
    <>
      {record.error && (
        <p className="jp-acp-Tool-error">
          <Visible text={record.error.message} />
        </p>
      )}
      {code && runs.length === 0 && <Code text={code} />}
      {runs.map((run, index) =>
        record.name === 'run_cells' ? (
          <FoldedRun key={index} item={item} index={index} run={run} />
        ) : (
          <Run key={index} run={run} />
        )
      )}
      {variables && <Variables {...variables} />}
      {outputs.length > 0 && <Outputs outputs={outputs} />}
      {item.made.map(change => (
        <MadeChange key={change.key} change={change} revision={revision} />
      ))}
    </>
  );
}

/** Whether a person would want to see at once what came of a call. */
export function isTellingRecord(item: IToolItem): boolean {
  const { record, made } = item;
  return (
    record !== undefined &&
    (record.error !== undefined || made.length > 0 || record.runs.length > 0)
  );
}

/** Whether there is something of it to unfold. */
export function hasRecordDetails(record: IToolRecord): boolean {
  return (
    record.code !== '' ||
    record.variables !== undefined ||
    record.outputs.length > 0
  );
}

function Run({ run }: { run: IRun }): JSX.Element {
  const { trans } = useChat();
  return (
    <div className="jp-acp-Run">
      {run.source && <Code text={run.source} language={run.language} />}
      {run.outputs.length > 0 ? (
        <Outputs outputs={run.outputs} />
      ) : (
        run.status === 'ok' && (
          <p className="jp-acp-Quiet">{trans.__('No output')}</p>
        )
      )}
      {run.note && (
        <p className="jp-acp-Quiet">
          <Visible text={run.note} />
        </p>
      )}
    </div>
  );
}

interface IFoldedRunProps {
  item: IToolItem;
  index: number;
  run: IRun;
}

/** One of several cells: its first line, which unfolds into what it brought. */
function FoldedRun({ item, index, run }: IFoldedRunProps): JSX.Element {
  const { trans } = useChat();
  const hasFailed = run.status !== 'ok';
  const [isOpen, setOpen] = useKept(item, `run-${index}`, hasFailed);
  const number = (run.cell?.index ?? index) + 1;
  return (
    <details
      className="jp-acp-Fold"
      open={isOpen}
      onToggle={event => setOpen(event.currentTarget.open)}
    >
      <summary>
        <span className="jp-acp-Fold-title">
          {hasFailed
            ? trans.__('Cell %1 (%2)', number, statusWords(run, trans))
            : trans.__('Cell %1', number)}
        </span>
        {!isOpen && (
          <code className="jp-acp-Fold-preview">
            <Visible text={run.source.trim().split('\n', 1)[0].slice(0, 160)} />
          </code>
        )}
      </summary>
      {isOpen && <Run run={run} />}
    </details>
  );
}

type Trans = ReturnType<typeof useChat>['trans'];

function statusWords({ status }: IRun, trans: Trans): string {
  switch (status) {
    case 'error':
      return trans.__('failed');
    case 'timeout':
      return trans.__('timed out');
    default:
      return trans.__('did not finish');
  }
}

function Variables({ variables, more, imports }: IVariables): JSX.Element {
  const { trans } = useChat();
  const modules = Object.entries(imports).map(([name, module]) =>
    name === module ? name : trans.__('%1 as %2', module, name)
  );
  return (
    <>
      {variables.length > 0 ? (
        <div
          className="jp-acp-Variables"
          role="region"
          aria-label={trans.__('Variables')}
          tabIndex={0}
        >
          <table>
            <thead>
              <tr>
                <th scope="col">{trans.__('Name')}</th>
                <th scope="col">{trans.__('Type')}</th>
                <th scope="col">{trans.__('Shape')}</th>
                <th scope="col">{trans.__('Value')}</th>
              </tr>
            </thead>
            <tbody>
              {variables.map(({ name, type, shape, value }, index) => (
                <tr key={index}>
                  <th scope="row">
                    <Visible text={name} />
                  </th>
                  <td>
                    <Visible text={type} />
                  </td>
                  <td>
                    <Visible text={shape ?? ''} />
                  </td>
                  <td>
                    <Visible text={value} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ) : (
        <p className="jp-acp-Quiet">
          {trans.__('There are no variables yet.')}
        </p>
      )}
      {more > 0 && (
        <p className="jp-acp-Quiet">{trans.__('… and %1 more', more)}</p>
      )}
      {modules.length > 0 && (
        <p className="jp-acp-Quiet">
          {trans.__('Imported:')} <Visible text={modules.join(', ')} />
        </p>
      )}
    </>
  );
}
