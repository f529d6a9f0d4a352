// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { type Locator, expect, test } from './browser';

import { mutated } from '../../labextension/test/support/mutate';
import { Random } from '../../labextension/test/support/random';
import { MESSAGES } from '../../labextension/test/support/samples';
import { AgentPage } from './agent';

const update = (sessionUpdate: unknown, fields: object) => [
  'update',
  { sessionUpdate, ...fields }
];

/** Each of them once took the panel with it, or was lost without a word. */
const MALFORMED = [
  update('plan', { entries: [null] }),
  update('tool_call', { toolCallId: 'a', title: 'Look', content: [null] }),
  update('tool_call_update', {
    toolCallId: 'a',
    content: [{ type: 'content', content: null }]
  }),
  update('tool_call', { toolCallId: 'b', title: { toString: 1 } }),
  update('tool_call', { title: 'nameless' }),
  update('agent_message_chunk', { content: { type: 'text' } }),
  update('agent_message_chunk', { content: 'words' }),
  update('hologram', { depth: 3 }),
  update('available_commands_update', { availableCommands: [7] })
];

const said = (words: string) =>
  update('agent_message_chunk', {
    messageId: words,
    content: { type: 'text', text: words }
  });

function unreadable(agent: AgentPage): Locator {
  return agent.log.getByText('The agent sent something that cannot be shown');
}

test('what cannot be read costs one row each, also after a reload', async ({
  page,
  request
}) => {
  const agent = await AgentPage.begin(page, request);
  await agent.play(
    ...MALFORMED.flatMap((each, index) => [each, said(`after ${index}`)])
  );
  const last = agent.answers.last();
  await expect(last).toHaveText(`after ${MALFORMED.length - 1}`);
  await expect(unreadable(agent)).toHaveCount(MALFORMED.length);
  await unreadable(agent).nth(7).click();
  await expect(agent.log.getByText('"depth": 3')).toBeVisible();

  await agent.reload();
  await expect(last).toHaveText(`after ${MALFORMED.length - 1}`);
  await expect(unreadable(agent)).toHaveCount(MALFORMED.length);
  await agent.newSession('scripted');
  await expect(agent.prompts).toHaveCount(0);
});

test('a stream of updates in any shape leaves the panel as it is', async ({
  page,
  request
}) => {
  const agent = await AgentPage.begin(page, request);
  const failures: string[] = [];
  page.on('pageerror', error => failures.push(String(error)));
  const random = new Random(5);
  const updates = MESSAGES.filter(({ params }) => 'update' in params);
  for (let round = 0; round < 8; round++) {
    const steps = Array.from({ length: 40 }, () => {
      const given = mutated(random.pick(updates).params.update, random);
      return ['update', { ...(given as object) }];
    });
    await agent.play(...steps, said(`round ${round}`));
    await expect(
      agent.log.getByText(`round ${round}`, { exact: false }).last()
    ).toBeVisible();
  }
  expect(await unreadable(agent).count()).toBeGreaterThan(0);
  await expect(
    agent.log.getByText('This part of the transcript cannot be shown')
  ).toHaveCount(0);
  await expect(agent.panel.locator('.jp-acp-Failure')).toHaveCount(0);
  expect(failures).toEqual([]);
});
