// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { expect, test } from './browser';

import { AgentPage } from './agent';
import { ChatPage } from './chat';

/** The extension of somebody else is in labextension/test/foreign. */

test('another extension draws a tool call, but no question about it', async ({
  page,
  request
}) => {
  const agent = await AgentPage.begin(page, request);
  await agent.execute('foreign:begin');
  await agent.play([
    'update',
    {
      sessionUpdate: 'tool_call',
      toolCallId: 'w',
      title: 'Weather',
      status: 'completed',
      rawOutput: { sky: 'clear' }
    }
  ]);
  const call = agent.log.getByRole('region', { name: 'Weather' });
  await call.getByRole('button', { name: 'Weather' }).click();
  await expect(call.locator('.foreign-Weather')).toHaveText(
    'The sky over scripted is clear.'
  );
  await expect(call.getByText('Details')).toBeVisible();
  await agent.send(
    JSON.stringify([
      [
        'request',
        'session/request_permission',
        {
          toolCall: {
            toolCallId: 'q',
            title: 'Weather',
            rawOutput: { sky: 'false' }
          },
          options: [{ optionId: 'y', name: 'Allow', kind: 'allow_once' }]
        }
      ]
    ])
  );
  await expect(agent.cards).toHaveCount(1);
  await expect(agent.cards.locator('.foreign-Weather')).toHaveCount(0);
  await agent.cards.getByRole('button', { name: 'Allow' }).click();
  await agent.isIdle();
});

test('another extension suggests a mention and lets messages carry something', async ({
  page
}) => {
  const agent = await ChatPage.start(page);
  await agent.execute('foreign:begin');
  const moon = agent.panel.getByRole('switch', { name: 'Moon' });
  await expect(moon).toHaveAttribute('aria-checked', 'true');
  await agent.input.pressSequentially('Tell of @Be');
  await agent.panel.getByRole('option', { name: '@Bern' }).click();
  await agent.input.press('Enter');
  const message = agent.prompts.last();
  await expect(message).toContainText('Tell of @Bern');
  for (const [name, text] of [
    ['Bern', 'Bern is a town.'],
    ['moon', 'It is full.']
  ]) {
    await message.getByText(name, { exact: true }).click();
    await expect(message.getByText(text)).toBeVisible();
  }
  await agent.isIdle();

  await moon.click();
  await expect(moon).toHaveAttribute('aria-checked', 'false');
  await agent.send('And now?');
  await expect(agent.prompts).toHaveCount(2);
  await expect(agent.prompts.last()).not.toContainText('moon');
});

test('another extension has a command that sends a message', async ({
  page
}) => {
  const agent = await ChatPage.start(page);
  await agent.execute('foreign:begin');
  await agent.execute('foreign:ask');
  await expect(agent.prompts.last()).toContainText('What is the weather like?');
});
