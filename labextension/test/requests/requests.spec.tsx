// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Notification } from '@jupyterlab/apputils';
import { fireEvent, screen, waitFor } from '@testing-library/react';
import * as React from 'react';

import { decodeQuestion } from '../../src/decode/questions';
import { Method } from '../../src/protocol';
import type { IPendingRequest } from '../../src/requests/request';
import { Requests } from '../../src/requests/requests';
import type { IChatContext } from '../../src/ui/context';
import { shown } from '../support/views';

const answers: unknown[] = [];

function request(method: string, params: unknown): IPendingRequest {
  const dropped: unknown[] = [];
  return {
    id: 'r',
    question: decodeQuestion(method, params, part => dropped.push(part)),
    dropped,
    answer: result => answers.push(result)
  };
}

function ask(
  method: string,
  params: unknown,
  extra: Partial<IChatContext> = {}
): void {
  shown(
    <Requests
      model={{
        info: { id: 's', agent: 'scripted' },
        requests: [request(method, params)],
        isCardWanted: false
      }}
      isConnected
      inputRef={React.createRef()}
    />,
    extra
  );
}

const permission = {
  toolCall: {
    toolCallId: 't',
    title: 'Run it',
    kind: 'execute',
    rawInput: { command: 'rm -r data' }
  },
  options: [
    { optionId: 'n', name: 'Reject', kind: 'reject_once' },
    { optionId: 'y', name: 'Allow', kind: 'allow_once' }
  ]
};

beforeEach(() => {
  answers.length = 0;
  Notification.manager.dismiss();
});

describe('a permission card', () => {
  it('shows what would be done, and answers with the option that is chosen', () => {
    ask(Method.requestPermission, permission);
    const card = screen.getByRole('group', { name: 'Permission: Run it' });
    expect(card.textContent).toContain('rm -r data');
    const buttons = screen.getAllByRole('button');
    expect(buttons.map(({ textContent }) => textContent)).toEqual([
      'Allow',
      'Reject'
    ]);
    fireEvent.click(screen.getByRole('button', { name: 'Reject' }));
    expect(answers).toEqual([
      { outcome: { outcome: 'selected', optionId: 'n' } }
    ]);
  });

  it('is answered with a key, once it has the focus', () => {
    ask(Method.requestPermission, permission);
    fireEvent.keyDown(screen.getByRole('group'), { key: 'y' });
    expect(answers).toEqual([
      { outcome: { outcome: 'selected', optionId: 'y' } }
    ]);
  });

  it.each([
    ['allow', 'Always allow', 'always allow'],
    ['deny', 'Never', 'always reject']
  ])('tells when it could not be kept for later: %s', async (_, name, told) => {
    const lasting = {
      ...permission,
      options: [
        { optionId: 'a', name: 'Always allow', kind: 'allow_always' },
        { optionId: 'n', name: 'Never', kind: 'reject_always' }
      ],
      _meta: { 'jupyter-acp': { rule: { kind: 'terminal', match: 'rm *' } } }
    };
    const add = (): Promise<void> => Promise.reject(new Error('disk full'));
    ask(Method.requestPermission, lasting, { rules: { add } });
    fireEvent.click(screen.getByRole('button', { name }));
    expect(answers).toHaveLength(1);
    await waitFor(() => expect(Notification.manager.count).toBe(1));
    const [{ type, message, options }] = Notification.manager.notifications;
    expect(type).toBe('error');
    // Without it, JupyterLab only counts it at the bell.
    expect(options.autoClose).toBe(false);
    expect(message).toBe(
      `Your answer was sent, but "${told}" was not saved (disk full) for rm *`
    );
  });

  it('shows as a whole what could not be read, and cannot be said yes to', () => {
    ask(Method.requestPermission, {
      toolCall: { toolCallId: 't', content: [{ type: 'scent', rose: 'red' }] },
      options: [7]
    });
    expect(screen.queryAllByRole('button')).toEqual([]);
    expect(
      screen.getByRole('region', { name: 'The agent waits for you' })
        .textContent
    ).toContain('"rose": "red"');
  });

  it('shows a call without an id, and what hides in parts of it', () => {
    ask(Method.requestPermission, {
      ...permission,
      toolCall: {
        ...permission.toolCall,
        toolCallId: '',
        content: [{ type: 'scent', rose: 'r\u202eed' }]
      }
    });
    const card = screen.getByRole('group', { name: 'Permission: Run it' });
    expect(card.textContent).toContain('rm -r data');
    expect(screen.getByRole('alert').textContent).toContain(
      'invisible characters'
    );
  });

  it('shows a change that cannot be taken apart as a text, never nothing', () => {
    const depth = 20_000;
    const metadata = `${'['.repeat(depth)}${']'.repeat(depth)}`;
    ask(Method.requestPermission, {
      ...permission,
      toolCall: {
        ...permission.toolCall,
        content: [
          {
            type: 'diff',
            path: '/a.ipynb',
            newText: `{"cells": [], "nbformat": 4, "nbformat_minor": 5, "metadata": {"a": ${metadata}}}`
          }
        ]
      }
    });
    expect(screen.getByRole('figure')).toBeTruthy();
  });
});

describe('a form', () => {
  it('sends what was filled in', () => {
    ask(Method.elicit, {
      message: 'How many?',
      requestedSchema: {
        properties: {
          count: { type: 'integer', title: 'Count' },
          sure: { type: 'boolean', title: 'Sure' }
        },
        required: ['count']
      }
    });
    fireEvent.change(screen.getByLabelText('Count *'), {
      target: { value: '3' }
    });
    fireEvent.click(screen.getByLabelText('Sure'));
    fireEvent.submit(screen.getByRole('form'));
    expect(answers).toEqual([
      { action: 'accept', content: { count: 3, sure: true } }
    ]);
  });

  it('marks hidden characters in what the agent calls its fields', () => {
    ask(Method.elicit, {
      message: 'Go?',
      requestedSchema: {
        properties: { a: { type: 'string', title: 'na\u202eme' } }
      }
    });
    expect(screen.getByTitle('Invisible character')).toBeTruthy();
  });

  it('that leads to no web page can only be declined', () => {
    ask(Method.elicit, {
      mode: 'url',
      message: 'Log in',
      url: 'javascript:alert(1)'
    });
    const buttons = screen.getAllByRole('button');
    expect(buttons.map(({ textContent }) => textContent)).toEqual(['Decline']);
  });
});
