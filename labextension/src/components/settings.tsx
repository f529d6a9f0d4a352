// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import type { SessionModel } from '../model/session';
import type { IConfigChoice, IConfigGroup, IConfigOption } from '../protocol';
import { useChat } from './context';

interface ISettingsProps {
  model: SessionModel;
  isConnected: boolean;
}

/** The mode and every option that the agent offers for this session. */
export function Settings({ model, isConnected }: ISettingsProps): JSX.Element {
  const { trans } = useChat();
  const { modes, configOptions } = model.transcript;
  // Some agents offer the mode twice: once the old way, once as an option.
  const hasModeOption = configOptions.some(each => each.category === 'mode');
  return (
    <>
      {modes?.availableModes && !hasModeOption && (
        <select
          className="jp-acp-Select"
          aria-label={trans.__('Mode')}
          title={trans.__('Mode')}
          disabled={!isConnected}
          value={modes.currentModeId}
          onChange={event => void model.setMode(event.target.value)}
        >
          {modes.availableModes.map(mode => (
            <option key={mode.id} value={mode.id}>
              {mode.name}
            </option>
          ))}
        </select>
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
  const title = option.description
    ? `${option.name}: ${option.description}`
    : option.name;
  if (option.type === 'boolean') {
    return (
      <label className="jp-acp-Check" title={title}>
        <input
          type="checkbox"
          disabled={!isConnected}
          checked={option.currentValue === true}
          onChange={event => onChange(event.target.checked)}
        />
        {option.name}
      </label>
    );
  }
  return (
    <select
      className="jp-acp-Select"
      aria-label={option.name}
      title={title}
      disabled={!isConnected}
      value={String(option.currentValue)}
      onChange={event => onChange(event.target.value)}
    >
      {(option.options ?? []).map(each =>
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

function Choice({ choice }: { choice: IConfigChoice }): JSX.Element {
  return <option value={choice.value}>{choice.name}</option>;
}

function isGroup(each: IConfigChoice | IConfigGroup): each is IConfigGroup {
  return Array.isArray((each as IConfigGroup).options);
}
