// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import type {
  AvailableCommand,
  PromptCapabilities,
  SessionConfigSelectGroup,
  SessionConfigSelectOption,
  SessionModeState
} from '@agentclientprotocol/sdk';

import {
  type Drop,
  type Shape,
  anyOf,
  anything,
  fields,
  flag,
  list,
  name,
  orElse,
  text
} from './shapes';

/** The models of a session, from agents that do not offer them as an option. */
export interface IModelState {
  currentModelId: string;
  availableModels: { modelId: string; name: string; description?: string }[];
}

/** A setting that the agent offers for a session. */
export interface IConfigOption {
  id: string;
  name: string;
  description?: string;
  category?: string;
  /** `select` or `boolean`, or what a later version adds. */
  type: string;
  currentValue: unknown;
  options: (SessionConfigSelectOption | SessionConfigSelectGroup)[];
}

/** What an agent offers in a session. */
export interface ISetup {
  modes?: SessionModeState;
  models?: IModelState;
  configOptions?: IConfigOption[];
  availableCommands?: AvailableCommand[];
  promptCapabilities?: PromptCapabilities;
}

const command = fields(
  { name, description: orElse(text, '') },
  { input: fields({ hint: orElse(text, '') }) }
);

export const commands: Shape<AvailableCommand[]> = list(command);

const choice: Shape<SessionConfigSelectOption> = fields(
  { value: text, name: text },
  { description: text }
);

const group: Shape<SessionConfigSelectGroup> = fields({
  group: text,
  name: text,
  options: list(choice)
});

export const configOptions: Shape<IConfigOption[]> = list(
  fields(
    {
      id: text,
      name: text,
      type: text,
      currentValue: orElse(anything, null),
      options: orElse(
        list(
          anyOf<SessionConfigSelectOption | SessionConfigSelectGroup>(
            group,
            choice
          )
        ),
        []
      )
    },
    { description: text, category: text }
  )
);

const setup: Shape<ISetup> = fields(
  {},
  {
    modes: fields({
      currentModeId: text,
      availableModes: list(
        fields({ id: text, name: text }, { description: text })
      )
    }),
    models: fields({
      currentModelId: text,
      availableModels: list(
        fields({ modelId: text, name: text }, { description: text })
      )
    }),
    configOptions,
    availableCommands: commands,
    promptCapabilities: fields(
      {},
      { image: flag, audio: flag, embeddedContext: flag }
    )
  }
);

/** Read what an agent offers from the answer to a request. */
export function decodeSetup(answer: unknown, drop: Drop): ISetup {
  return answer === undefined ? {} : (setup(answer, drop) ?? {});
}
