// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';
import type {
  SessionConfigSelectGroup,
  SessionConfigSelectOption
} from '@agentclientprotocol/sdk';

import type { IConfigOption } from '../decode/setup';
import { asText } from '../tools/input';
import { useChat } from '../ui/context';
import { Visible } from '../ui/visible';
import type { SessionModel } from './session';

interface ISettingsProps {
  model: SessionModel;
  isConnected: boolean;
}

/** The mode, the model and every option that the agent offers for this session. */
export function Settings({ model, isConnected }: ISettingsProps): JSX.Element {
  const { trans } = useChat();
  const { modes, models, configOptions } = model.transcript.facts;
  // Some agents offer the same twice: once the old way, once as an option.
  const hasOption = (category: string): boolean =>
    configOptions.some(each => each.category === category);
  return (
    <>
      {modes?.availableModes && !hasOption('mode') && (
        <Select
          name={trans.__('Mode')}
          isConnected={isConnected}
          value={modes.currentModeId}
          options={modes.availableModes.map(({ id, ...mode }) => ({
            ...mode,
            value: id
          }))}
          onChange={value => void model.setMode(value)}
        />
      )}
      {models?.availableModels && !hasOption('model') && (
        <Select
          name={trans.__('Model')}
          isConnected={isConnected}
          value={models.currentModelId}
          options={models.availableModels.map(({ modelId, ...each }) => ({
            ...each,
            value: modelId
          }))}
          onChange={value => void model.setModel(value)}
        />
      )}
      {configOptions.map(option => (
        <ConfigOption
          key={option.id}
          option={option}
          isConnected={isConnected}
          onChange={value => void model.setConfigOption(option.id, value)}
        />
      ))}
    </>
  );
}

interface IConfigOptionProps {
  option: IConfigOption;
  isConnected: boolean;
  onChange: (value: string | boolean) => void;
}

function ConfigOption({
  option,
  isConnected,
  onChange
}: IConfigOptionProps): JSX.Element {
  const { name, description, currentValue } = option;
  switch (option.type) {
    case 'boolean':
      return (
        <label className="jp-acp-Check" title={withDescription(option)}>
          <input
            type="checkbox"
            disabled={!isConnected}
            checked={currentValue === true}
            onChange={event => onChange(event.target.checked)}
          />
          {name}
        </label>
      );
    case 'select':
      return (
        <Select
          name={name}
          description={description}
          isConnected={isConnected}
          value={asText(currentValue)}
          options={option.options ?? []}
          onChange={onChange}
        />
      );
    default:
      // Of a kind that came after us: it can be seen, if not changed.
      return (
        <span className="jp-acp-Setting" title={withDescription(option)}>
          <Visible text={`${name}: ${asText(currentValue)}`} />
        </span>
      );
  }
}

interface ISelectProps {
  name: string;
  description?: string | null;
  isConnected: boolean;
  value: string;
  options: readonly (SessionConfigSelectOption | SessionConfigSelectGroup)[];
  onChange: (value: string) => void;
}

/** A choice. It shows what the agent has, so that one it refuses is not shown. */
function Select({
  name,
  description,
  isConnected,
  value,
  options,
  onChange
}: ISelectProps): JSX.Element {
  const choices = options.flatMap(each =>
    isGroup(each) ? each.options : [each]
  );
  const current = choices.find(each => each.value === value);
  return (
    <select
      className="jp-acp-Select"
      aria-label={name}
      title={withDescription({
        name: current ? `${name}: ${current.name}` : name,
        description: current?.description ?? description
      })}
      disabled={!isConnected}
      value={value}
      onChange={event => onChange(event.target.value)}
    >
      {!current && <option value={value}>{value}</option>}
      {options.map(each =>
        isGroup(each) ? (
          <optgroup key={each.group} label={each.name}>
            {each.options.map(choice => (
              <Choice key={choice.value} choice={choice} />
            ))}
          </optgroup>
        ) : (
          <Choice key={each.value} choice={each} />
        )
      )}
    </select>
  );
}

function Choice({
  choice
}: {
  choice: SessionConfigSelectOption;
}): JSX.Element {
  return <option value={choice.value}>{choice.name}</option>;
}

function isGroup(
  each: SessionConfigSelectOption | SessionConfigSelectGroup
): each is SessionConfigSelectGroup {
  return Array.isArray((each as SessionConfigSelectGroup).options);
}

function withDescription({
  name,
  description
}: {
  name: string;
  description?: string | null;
}): string {
  return description ? `${name}\n${description}` : name;
}
