// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type * as nbformat from '@jupyterlab/nbformat';
import { MimeModel, OutputModel } from '@jupyterlab/rendermime';
import { Widget } from '@lumino/widgets';
import * as React from 'react';

import { useChat } from '../ui/context';
import { useLinks } from '../ui/markdown';

/** More of what was printed than this is folded. */
const SHOWN_LINES = 12;
const SHOWN_CHARS = 4000;

interface IOutputsProps {
  outputs: readonly nbformat.IOutput[];
}

/** What code brought, as a notebook shows it, but for whatever runs or fetches. */
export function Outputs({ outputs }: IOutputsProps): JSX.Element {
  const { trans } = useChat();
  return (
    <div
      className="jp-acp-Outputs"
      role="group"
      aria-label={trans.__('Outputs')}
    >
      {outputs.map((output, index) =>
        output.output_type === 'stream' ? (
          <Stream key={index} output={output as nbformat.IStream} />
        ) : (
          <Output key={index} output={output} />
        )
      )}
    </div>
  );
}

/** What was printed, and only the beginning where it is long. */
function Stream({ output }: { output: nbformat.IStream }): JSX.Element {
  const { trans } = useChat();
  const [isWhole, setWhole] = React.useState(false);
  const text = String(output.text);
  const lines = text.trimEnd().split('\n');
  const start = lines.slice(0, SHOWN_LINES).join('\n').slice(0, SHOWN_CHARS);
  const isLong = start.length < text.trimEnd().length;
  const shown = React.useMemo(
    () => (isLong && !isWhole ? { ...output, text: start } : output),
    [output, start, isLong, isWhole]
  );
  return (
    <>
      <Output output={shown} />
      {isLong && (
        <button
          type="button"
          className="jp-acp-Link"
          aria-expanded={isWhole}
          onClick={() => setWhole(!isWhole)}
        >
          {isWhole
            ? trans.__('Show less')
            : lines.length > SHOWN_LINES
              ? trans.__('Show all %1 lines', lines.length)
              : trans.__('Show all')}
        </button>
      )}
    </>
  );
}

interface IOutputProps {
  output: nbformat.IOutput;
}

const Output = React.memo(function Output({
  output
}: IOutputProps): JSX.Element {
  const { rendermime, languages, trans } = useChat();
  const host = React.useRef<HTMLDivElement>(null);
  const onClick = useLinks();
  const [problem, setProblem] = React.useState('');
  // A widget must be disposed of while its node is still in the page.
  React.useLayoutEffect(() => {
    let shown: Widget | null = null;
    let isGone = false;
    const show = async (): Promise<void> => {
      const { inertRendermime } = await import('../ui/renderoutputs');
      const data = OutputModel.getData(output);
      const metadata = OutputModel.getMetadata(output);
      const context = { rendermime, languages, trans };
      const registry = inertRendermime(Object.keys(data), context);
      const type = registry.preferredMimeType(data, 'any');
      if (isGone || !host.current?.isConnected || !type) {
        return;
      }
      const renderer = registry.createRenderer(type);
      shown = renderer;
      Widget.attach(renderer, host.current);
      await renderer.renderModel(
        new MimeModel({ data, metadata, trusted: false })
      );
    };
    show().catch((error: Error) => setProblem(error.message));
    return () => {
      isGone = true;
      shown?.dispose();
    };
  }, [output, rendermime, languages, trans]);
  return (
    <div
      ref={host}
      className={`jp-acp-Output jp-acp-mod-${nameOf(output)}`}
      onClick={onClick}
    >
      {problem && (
        <p className="jp-acp-Quiet">
          {trans.__('The output cannot be shown: %1', problem)}
        </p>
      )}
    </div>
  );
});

function nameOf({ output_type: type, name }: nbformat.IOutput): string {
  return name === 'stderr' ? 'stderr' : String(type);
}
