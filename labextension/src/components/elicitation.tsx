// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import type { IPendingRequest } from '../model/session';
import type { IElicitationParams, IElicitationProperty } from '../protocol';
import { useChat } from './context';

type Value = string | number | boolean | string[];

interface IElicitationProps {
  request: IPendingRequest;
  isConnected: boolean;
}

/** The agent asks for values: a form made from the schema that it sent. */
export function Elicitation({
  request,
  isConnected
}: IElicitationProps): JSX.Element {
  const { trans } = useChat();
  const params = request.params as IElicitationParams;
  const schema = params.requestedSchema ?? {};
  const properties = Object.entries(schema.properties ?? {});
  const required = new Set(schema.required ?? []);
  const [values, setValues] = React.useState<Record<string, Value>>(() =>
    initialValues(properties)
  );
  const submit = (event: React.FormEvent) => {
    event.preventDefault();
    const content = Object.fromEntries(
      Object.entries(values).filter(([, value]) => value !== '')
    );
    request.answer({ action: 'accept', content });
  };
  return (
    <form
      className="jp-acp-Card"
      aria-label={trans.__('The agent asks')}
      onSubmit={submit}
    >
      <div className="jp-acp-Card-header">
        <span className="jp-acp-Card-title">{params.message}</span>
      </div>
      <div className="jp-acp-Card-body">
        {properties.map(([name, property]) => (
          <Field
            key={name}
            name={name}
            property={property}
            required={required.has(name)}
            value={values[name]}
            onChange={value =>
              setValues(current => ({ ...current, [name]: value }))
            }
          />
        ))}
      </div>
      <div className="jp-acp-Card-buttons">
        <button
          type="submit"
          className="jp-mod-styled jp-mod-accept"
          disabled={!isConnected}
        >
          {trans.__('Submit')}
        </button>
        <button
          type="button"
          className="jp-mod-styled jp-mod-reject"
          disabled={!isConnected}
          onClick={() => request.answer({ action: 'decline' })}
        >
          {trans.__('Decline')}
        </button>
      </div>
    </form>
  );
}

interface IFieldProps {
  name: string;
  property: IElicitationProperty;
  required: boolean;
  value: Value | undefined;
  onChange: (value: Value) => void;
}

function Field(props: IFieldProps): JSX.Element {
  const { name, property, required } = props;
  const id = React.useId();
  const label = property.title ?? name;
  const isCheck = property.type === 'boolean';
  return (
    <div className={`jp-acp-Field ${isCheck ? 'jp-acp-mod-check' : ''}`}>
      <label htmlFor={id}>
        {label}
        {required && <span aria-hidden="true"> *</span>}
      </label>
      <Input {...props} id={id} />
      {property.description && (
        <small id={`${id}-help`}>{property.description}</small>
      )}
    </div>
  );
}

function Input({
  id,
  property,
  required,
  value,
  onChange
}: IFieldProps & { id: string }): JSX.Element {
  const common = {
    id,
    required,
    'aria-describedby': property.description ? `${id}-help` : undefined
  };
  const several = choicesOf(property.items);
  const choices = choicesOf(property);
  if (property.type === 'boolean') {
    // A required boolean must be answered, not necessarily with yes.
    return (
      <input
        {...common}
        required={false}
        type="checkbox"
        checked={value === true}
        onChange={event => onChange(event.target.checked)}
      />
    );
  }
  if (property.type === 'array' && several.length) {
    return (
      <select
        {...common}
        className="jp-mod-styled"
        multiple
        value={Array.isArray(value) ? value : []}
        onChange={event =>
          onChange([...event.target.selectedOptions].map(each => each.value))
        }
      >
        <Options choices={several} />
      </select>
    );
  }
  if (choices.length) {
    return (
      <select
        {...common}
        className="jp-mod-styled"
        value={String(value ?? '')}
        onChange={event => onChange(event.target.value)}
      >
        <option value="" disabled={required} />
        <Options choices={choices} />
      </select>
    );
  }
  if (property.type === 'number' || property.type === 'integer') {
    return (
      <input
        {...common}
        className="jp-mod-styled"
        type="number"
        step={property.type === 'integer' ? 1 : 'any'}
        min={property.minimum}
        max={property.maximum}
        value={typeof value === 'number' ? value : ''}
        onChange={event =>
          onChange(event.target.value === '' ? '' : event.target.valueAsNumber)
        }
      />
    );
  }
  return (
    <input
      {...common}
      className="jp-mod-styled"
      type="text"
      minLength={property.minLength}
      maxLength={property.maxLength}
      pattern={property.pattern}
      value={String(value ?? '')}
      onChange={event => onChange(event.target.value)}
    />
  );
}

interface IChoice {
  const: string;
  title?: string;
}

function Options({ choices }: { choices: IChoice[] }): JSX.Element {
  return (
    <>
      {choices.map(choice => (
        <option key={choice.const} value={choice.const}>
          {choice.title ?? choice.const}
        </option>
      ))}
    </>
  );
}

function choicesOf(
  schema: { enum?: string[]; oneOf?: IChoice[]; anyOf?: IChoice[] } | undefined
): IChoice[] {
  return (
    schema?.oneOf ??
    schema?.anyOf ??
    schema?.enum?.map(value => ({ const: value })) ??
    []
  );
}

function initialValues(
  properties: [string, IElicitationProperty][]
): Record<string, Value> {
  const values: Record<string, Value> = {};
  for (const [name, property] of properties) {
    if (property.default !== undefined && property.default !== null) {
      values[name] = property.default as Value;
    } else if (property.type === 'boolean') {
      values[name] = false;
    }
  }
  return values;
}
