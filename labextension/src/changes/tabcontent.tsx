// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { ReactWidget } from '@jupyterlab/ui-components';
import type { Panel } from '@lumino/widgets';
import * as React from 'react';

import { ChatContext, type IChatContext } from '../ui/context';
import { ChangesContext, type IFoundChange } from './context';
import { ChangePage } from './page';
import { reviewOf } from './review';

import '../../style/chat.css';

/** Show a change with all the room there is: a text, or a notebook's cells. */
export async function showChange(
  tab: Panel,
  { session, change }: IFoundChange,
  context: IChatContext
): Promise<void> {
  tab.addWidget(
    ReactWidget.create(
      <ChatContext.Provider value={context}>
        <ChangesContext.Provider value={{ session }}>
          <ChangePage change={change} />
        </ChangesContext.Provider>
      </ChatContext.Provider>
    )
  );
  const { notebooks } = reviewOf(change);
  if (!notebooks) {
    return;
  }
  try {
    const { showNotebooks } = await import('./notebooks');
    const widget = await showNotebooks(notebooks, context);
    if (tab.isDisposed) {
      widget.dispose();
    } else {
      tab.addWidget(widget);
    }
  } catch (error) {
    tab.node.append(
      context.trans.__('The notebook could not be shown: %1', String(error))
    );
  }
}
