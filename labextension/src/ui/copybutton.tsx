// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Clipboard } from '@jupyterlab/apputils';
import { Button, checkIcon, copyIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

/** How long it shows that it has copied. */
const SHOWN_MS = 1500;

interface ICopyButtonProps {
  text: string;
  /** Says what is copied. */
  label: string;
}

/** Puts a text on the clipboard, and says so. */
export function CopyButton({ text, label }: ICopyButtonProps): JSX.Element {
  const [isCopied, setCopied] = React.useState(false);
  React.useEffect(() => {
    const timer = isCopied && setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer || undefined);
  }, [isCopied]);
  const icon = isCopied ? checkIcon : copyIcon;
  return (
    <Button
      minimal
      small
      title={label}
      aria-label={label}
      onClick={() => {
        Clipboard.copyToSystem(text);
        setCopied(true);
      }}
    >
      <icon.react tag="span" />
    </Button>
  );
}
