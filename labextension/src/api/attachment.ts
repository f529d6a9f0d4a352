// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

/** A file that the agent may look at itself. */
export interface IFileAttachment {
  type: 'file';
  name: string;
  uri: string;
}

/** Some text with the place that it comes from: a cell, a selection. */
export interface ITextAttachment {
  type: 'text';
  name: string;
  uri: string;
  text: string;
  mimeType?: string;
}

export interface IImageAttachment {
  type: 'image';
  name: string;
  mimeType: string;
  /** In base64. */
  data: string;
}

/** Something that goes with a prompt. */
export type Attachment = IFileAttachment | ITextAttachment | IImageAttachment;
