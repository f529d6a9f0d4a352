// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { LabIcon } from '@jupyterlab/ui-components';

/** A speech bubble with a spark: somebody answers who is not a person. */
export const agentIcon = new LabIcon({
  name: 'jupyter-acp-bridge:agent',
  svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24">
  <g class="jp-icon3 jp-icon-selectable" fill="#616161">
    <path d="M4 3h9v2H4v11h3v2.6L10.6 16H20v-4h2v4a2 2 0 0 1-2 2h-8.6L5 22.4V18H4a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2z"/>
    <path d="M18.5 1l1.3 3.7L23.5 6l-3.7 1.3L18.5 11l-1.3-3.7L13.5 6l3.7-1.3z"/>
  </g>
</svg>`
});

export const sendIcon = new LabIcon({
  name: 'jupyter-acp-bridge:send',
  svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24">
  <path class="jp-icon3" fill="#616161" d="M12 3.5l7.5 7.5-1.6 1.6-4.8-4.8V21h-2.2V7.8l-4.8 4.8L4.500 11z"/>
</svg>`
});

export const historyIcon = new LabIcon({
  name: 'jupyter-acp-bridge:history',
  svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24">
  <path class="jp-icon3" fill="#616161" d="M13 3a9 9 0 0 0-9 9H1l4 4 4-4H6a7 7 0 1 1 2 4.900l-1.400 1.400A9 9 0 1 0 13 3zm-1 5v5l4.300 2.500.700-1.200-3.500-2.100V8z"/>
</svg>`
});

/** Two lines of work that meet: what is done elsewhere comes back. */
export const remoteIcon = new LabIcon({
  name: 'jupyter-acp-bridge:remote',
  svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24">
  <path class="jp-icon3 jp-icon-selectable" fill="#616161" fill-rule="evenodd" d="M7 2a3 3 0 0 1 1 5.830v8.340a3 3 0 1 1-2 0V7.830A3 3 0 0 1 7 2zm0 2a1 1 0 1 0 0 2 1 1 0 0 0 0-2zm0 14a1 1 0 1 0 0 2 1 1 0 0 0 0-2zM17 2a3 3 0 0 1 1 5.830V10a4 4 0 0 1-4 4h-4v-2h4a2 2 0 0 0 2-2V7.830A3 3 0 0 1 17 2zm0 2a1 1 0 1 0 0 2 1 1 0 0 0 0-2z"/>
</svg>`
});
