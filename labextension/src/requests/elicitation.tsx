// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import type { IChoice, IElicitation, IProperty } from '../decode/questions';
import { useChat } from '../ui/context';
import { useKept } from '../ui/hooks';
import { useSession } from '../ui/session';
import { Dropped } from '../ui/unreadable';
import { Visible } from '../ui/visible';
import {
  type Value,
  choicesOf,
  contentOf,
  initialValues,
  isSeveral,
  leastOf
} from './form';
import type { IPendingRequest } from './request';

interface IElicitationProps {
  request: IPendingRequest;
  question: IElicitation;
  isConnected: boolean;
}

/** The agent asks for values, or to go to a page where it asks for them. */
export function Elicitation(props: IElicitationProps): JSX.Element {
  return props.question.mode === 'url' ? (
    <Visit {...props} />
  ) : (
    <Form {...props} />
  );
}

/** Where the agent sends the person: seen as a whole before it is opened. */
function Visit(props: IElicitationProps): JSX.Element {
  const { trans } = useChat();
  const { request, question, isConnected } = props;
  const { message, url } = question;
  const address = webAddress(url);
  return (
    <section
      className="jp-acp-Card"
      aria-label={trans.__('Question from the agent')}
      tabIndex={-1}
    >
      <div className="jp-acp-Card-header">
        <span className="jp-acp-Card-title">
          <Visible text={message} />
        </span>
      </div>
      <div className="jp-acp-Card-body">
        <code className="jp-acp-Address">
          <Visible text={url} />
        </code>
        <p className="jp-acp-Hint">
          {address
            ? trans.__(
                'This opens %1 in a new tab. Continue only if you trust the site.',
                address.host
              )
            : trans.__(
                'This is not the address of a web page and cannot be opened.'
              )}
        </p>
      </div>
      <div className="jp-acp-Card-buttons">
        {address && (
          <button
            type="button"
            className="jp-mod-styled jp-mod-accept"
            disabled={!isConnected}
            onClick={() => {
              window.open(address.href, '_blank', 'noopener,noreferrer');
              request.answer({ action: 'accept' });
            }}
          >
            {trans.__('Open')}
          </button>
        )}
        <Decline {...props} />
      </div>
    </section>
  );
}

function webAddress(url: string): URL | null {
  try {
    const address = new URL(url);
    return /^https?:$/.test(address.protocol) ? address : null;
  } catch {
    return null;
  }
}

function Decline({ request, isConnected }: IElicitationProps): JSX.Element {
  const { trans } = useChat();
  return (
    <button
      type="button"
      className="jp-mod-styled jp-mod-reject"
      disabled={!isConnected}
      onClick={() => request.answer({ action: 'decline' })}
    >
      {trans.__('Decline')}
    </button>
  );
}

/** A form made from the schema that the agent sent. */
function Form(props: IElicitationProps): JSX.Element {
  const { trans } = useChat();
  const { request, question, isConnected } = props;
  const { form } = question;
  const required = new Set(form.required);
  // Not with the request: after a reconnect another one stands for the same.
  const [values, setValues] = useKept(
    useSession(),
    `form ${request.id}`,
    initialValues(form)
  );
  const submit = (event: React.FormEvent) => {
    event.preventDefault();
    request.answer({ action: 'accept', content: contentOf(form, values) });
  };
  return (
    <form
      className="jp-acp-Card"
      aria-label={trans.__('Question from the agent')}
      tabIndex={-1}
      onSubmit={submit}
    >
      <div className="jp-acp-Card-header">
        <span className="jp-acp-Card-title">
          <Visible text={question.message} />
        </span>
      </div>
      <div className="jp-acp-Card-body">
        {Object.entries(form.properties).map(([name, property]) => (
          <Field
            key={name}
            name={name}
            property={property}
            required={required.has(name)}
            value={values.get(name)}
            onChange={value => setValues(new Map(values).set(name, value))}
          />
        ))}
        {request.dropped.length > 0 && <Dropped parts={request.dropped} />}
      </div>
      <div className="jp-acp-Card-buttons">
        <button
          type="submit"
          className="jp-mod-styled jp-mod-accept"
          disabled={!isConnected}
        >
          {trans.__('Submit')}
        </button>
        <Decline {...props} />
      </div>
    </form>
  );
}

interface IFieldProps {
  name: string;
  property: IProperty;
  required: boolean;
  value: Value | undefined;
  onChange: (value: Value) => void;
}

interface IDescribed {
  id: string;
  'aria-describedby'?: string;
}

function Field(props: IFieldProps): JSX.Element {
  const { name, property, required } = props;
  const id = React.useId();
  const help = property.description ? `${id}-help` : undefined;
  const described: IDescribed = { id, 'aria-describedby': help };
  const isCheck = property.type === 'boolean';
  const label = (
    <>
      <Visible text={property.title ?? name} />
      {required && <span aria-hidden="true"> *</span>}
    </>
  );
  const description = help && (
    <small id={help}>
      <Visible text={property.description ?? ''} />
    </small>
  );
  if (isSeveral(property)) {
    return (
      <fieldset {...described} className="jp-acp-Field">
        <legend>{label}</legend>
        <Several {...props} />
        {description}
      </fieldset>
    );
  }
  return (
    <div className={`jp-acp-Field ${isCheck ? 'jp-acp-mod-check' : ''}`}>
      <label htmlFor={id}>{label}</label>
      <Input {...props} described={described} />
      {description}
    </div>
  );
}

interface IInputProps extends IFieldProps {
  described: IDescribed;
}

function Input({
  property,
  required,
  value,
  described,
  onChange
}: IInputProps): JSX.Element {
  const common = { ...described, required };
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
  if (property.format === 'date-time') {
    return (
      <input
        {...common}
        className="jp-mod-styled"
        type="datetime-local"
        value={localTime(value)}
        onChange={event =>
          onChange(
            event.target.value && new Date(event.target.value).toISOString()
          )
        }
      />
    );
  }
  return (
    <input
      {...common}
      className="jp-mod-styled"
      type={INPUT_TYPES.get(property.format ?? '') ?? 'text'}
      minLength={property.minLength}
      maxLength={property.maxLength}
      // Browsers want the whole text to fit, schemas only some part of it.
      pattern={property.pattern && `.*(?:${property.pattern}).*`}
      title={property.pattern}
      value={String(value ?? '')}
      onChange={event => onChange(event.target.value)}
    />
  );
}

const INPUT_TYPES = new Map<string, string>([
  ['email', 'email'],
  ['uri', 'url'],
  ['date', 'date']
]);

/** A moment as its field has it: in the time zone of whoever looks. */
function localTime(value: Value | undefined): string {
  const date = new Date(String(value ?? ''));
  if (isNaN(date.getTime())) {
    return '';
  }
  const minutes = date.getTime() - date.getTimezoneOffset() * 60_000;
  return new Date(minutes).toISOString().slice(0, 16);
}

/** Any of several choices, as many as the schema allows. */
function Several({
  property,
  required,
  value,
  onChange
}: IFieldProps): JSX.Element {
  const { trans } = useChat();
  const first = React.useRef<HTMLInputElement>(null);
  const choices = choicesOf(property.items);
  const chosen = Array.isArray(value) ? value : [];
  const least = leastOf(property, required, chosen.length);
  const { maxItems: most = choices.length } = property;
  const problem =
    chosen.length < least
      ? trans._n('Choose at least %1.', 'Choose at least %1.', least)
      : chosen.length > most
        ? trans._n('Choose at most %1.', 'Choose at most %1.', most)
        : '';
  React.useEffect(() => {
    first.current?.setCustomValidity(problem);
  }, [problem]);
  return (
    <>
      {choices.map((choice, index) => (
        <label key={choice.const} className="jp-acp-Check">
          <input
            ref={index === 0 ? first : undefined}
            type="checkbox"
            checked={chosen.includes(choice.const)}
            onChange={event =>
              onChange(
                event.target.checked
                  ? [...chosen, choice.const]
                  : chosen.filter(each => each !== choice.const)
              )
            }
          />
          <Visible text={choice.title ?? choice.const} />
        </label>
      ))}
    </>
  );
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
