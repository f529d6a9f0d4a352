// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import * as React from 'react';

import type { AuthMethod, IAuthVariable } from '../protocol';
import { useChat } from '../ui/context';
import { CopyButton } from '../ui/copybutton';
import { Visible } from '../ui/visible';
import type { ILoginNeeded } from './login';

interface IAuthenticationProps {
  login: ILoginNeeded;
  /** Do again what the agent has refused. */
  onRetry: () => void;
  onCancel: () => void;
}

/** What an agent wants before it works for somebody, and how to give it. */
export function Authentication({
  login,
  onRetry,
  onCancel
}: IAuthenticationProps): JSX.Element {
  const { trans } = useChat();
  const { agent, agentName, methods } = login;
  return (
    <section
      className="jp-acp-Login"
      aria-label={trans.__('Log in to %1', agentName)}
    >
      <h2 className="jp-acp-Login-title">
        {trans.__('Log in to %1', agentName)}
      </h2>
      <p className="jp-acp-Hint">
        {trans.__('The agent requires a login before it starts.')}
      </p>
      <ul className="jp-acp-List">
        {methods.map(method => (
          <li key={method.id} className="jp-acp-Login-method">
            <span className="jp-acp-Login-name">
              <Visible text={method.name} />
            </span>
            {method.description && (
              <span className="jp-acp-Row-detail">
                <Visible text={method.description} />
              </span>
            )}
            <Way agent={agent} method={method} onDone={onRetry} />
          </li>
        ))}
      </ul>
      <div className="jp-acp-Card-buttons">
        <button type="button" className="jp-mod-styled" onClick={onRetry}>
          {trans.__('Try again')}
        </button>
        <button
          type="button"
          className="jp-mod-styled jp-mod-reject"
          onClick={onCancel}
        >
          {trans.__('Cancel')}
        </button>
      </div>
    </section>
  );
}

interface IWayProps {
  agent: string;
  method: AuthMethod;
  onDone: () => void;
}

/** What there is to do for one of the methods. */
function Way({ agent, method, onDone }: IWayProps): JSX.Element {
  switch (method.type) {
    case 'terminal':
      return <ByCommand command={method.command} />;
    case 'env_var':
      return (
        <ByVariables
          agent={agent}
          variables={method.variables}
          link={method.link}
        />
      );
    default:
      return <ByAgent agent={agent} method={method} onDone={onDone} />;
  }
}

/** The agent does it all by itself; it may open a page, and take its time. */
function ByAgent({ agent, method, onDone }: IWayProps): JSX.Element {
  const { agents, trans } = useChat();
  const [waiting, setWaiting] = React.useState<AbortController | null>(null);
  // Who goes away does not want to be called back when it is done.
  React.useEffect(() => () => waiting?.abort(), [waiting]);
  const [problem, setProblem] = React.useState('');
  const log = async (): Promise<void> => {
    const controller = new AbortController();
    setProblem('');
    setWaiting(controller);
    try {
      await agents.authenticate(agent, method.id, {
        signal: controller.signal
      });
      onDone();
    } catch (error) {
      setProblem(controller.signal.aborted ? '' : (error as Error).message);
    }
    setWaiting(null);
  };
  return (
    <>
      {problem && (
        <p className="jp-acp-Login-problem" role="alert">
          <Visible text={problem} />
        </p>
      )}
      <div className="jp-acp-Card-buttons">
        <button
          type="button"
          className="jp-mod-styled jp-mod-accept"
          disabled={waiting !== null}
          onClick={() => void log()}
        >
          {trans.__('Log in')}
        </button>
        {waiting && (
          <>
            <span
              className="jp-acp-Spinner"
              role="progressbar"
              aria-label={trans.__('Waiting for the login')}
            />
            <button
              type="button"
              className="jp-mod-styled"
              onClick={() => waiting.abort()}
            >
              {trans.__('Stop waiting')}
            </button>
          </>
        )}
      </div>
    </>
  );
}

/** A program asks for what it needs, in a terminal. */
function ByCommand({ command }: { command: string | null }): JSX.Element {
  const { terminals, trans } = useChat();
  if (!command) {
    return (
      <span className="jp-acp-Row-detail">
        {trans.__(
          'The login command cannot be shown. Log in as described in the documentation of the agent, then try again.'
        )}
      </span>
    );
  }
  return (
    <>
      <span className="jp-acp-Row-detail">
        {trans.__('Run this command, follow its instructions, then try again:')}
      </span>
      <span className="jp-acp-Command">
        <code>
          <Visible text={command} />
        </code>
        <CopyButton text={command} label={trans.__('Copy the command')} />
      </span>
      {terminals.isAvailable && (
        <div className="jp-acp-Card-buttons">
          <button
            type="button"
            className="jp-mod-styled jp-mod-accept"
            onClick={() => void terminals.run(command)}
          >
            {trans.__('Run in a terminal')}
          </button>
        </div>
      )}
    </>
  );
}

interface IByVariablesProps {
  agent: string;
  variables: IAuthVariable[];
  link?: string;
}

/** Whoever runs the server gives the agent its keys. */
function ByVariables({
  agent,
  variables,
  link
}: IByVariablesProps): JSX.Element {
  const { trans } = useChat();
  const missing = variables.filter(each => !each.isSet && !each.optional);
  const example = `c.AcpExtension.agents[${JSON.stringify(agent)}]["env"]`;
  return (
    <>
      <ul className="jp-acp-Login-variables">
        {variables.map(each => (
          <li key={each.name}>
            <code>
              <Visible text={each.name} />
            </code>{' '}
            <Visible text={each.label ?? ''} />
            <span className="jp-acp-Badge">{stateWords(each, trans)}</span>
          </li>
        ))}
      </ul>
      {missing.length > 0 && (
        <span className="jp-acp-Row-detail">
          {trans.__(
            'Set the missing variables in the environment of the Jupyter server, or in its configuration as %1, and restart the server.',
            example
          )}
        </span>
      )}
      {link && /^https?:\/\//.test(link) && (
        <a
          className="jp-acp-Link"
          href={link}
          target="_blank"
          rel="noopener noreferrer"
        >
          <Visible text={link} />
        </a>
      )}
    </>
  );
}

type Trans = ReturnType<typeof useChat>['trans'];

function stateWords({ isSet, optional }: IAuthVariable, trans: Trans): string {
  if (isSet) {
    return trans.__('is set');
  }
  return optional ? trans.__('not set, optional') : trans.__('missing');
}
