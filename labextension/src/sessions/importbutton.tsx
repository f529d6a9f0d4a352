// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { showErrorMessage } from '@jupyterlab/apputils';
import { Button, fileUploadIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import { useSessions } from './context';

/** Takes sessions that were downloaded before, here or elsewhere. */
export function ImportButton(): JSX.Element {
  const { sessions, openSession, trans } = useSessions();
  const input = React.useRef<HTMLInputElement>(null);
  const take = async (files: readonly File[]): Promise<void> => {
    for (const file of files) {
      try {
        const { id } = await sessions.archive.import(await file.text());
        if (files.length === 1) {
          await openSession(id);
        }
      } catch (error) {
        await showErrorMessage(
          trans.__('%1 was not imported', file.name),
          error as Error
        );
      }
    }
  };
  return (
    <>
      <Button
        minimal
        small
        title={trans.__('Import sessions (JSON Lines)')}
        aria-label={trans.__('Import sessions (JSON Lines)')}
        onClick={() => input.current?.click()}
      >
        <fileUploadIcon.react tag="span" />
      </Button>
      <input
        ref={input}
        type="file"
        accept=".jsonl,.ndjson"
        multiple
        hidden
        onChange={event => {
          const files = [...(event.target.files ?? [])];
          // The same file can be chosen again.
          event.target.value = '';
          void take(files);
        }}
      />
    </>
  );
}
