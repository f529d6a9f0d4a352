// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { type Locator, expect, test } from './browser';

import { AgentPage } from './agent';

/** Let the agent ask; returns what it was answered, once it was. */
async function ask(
  agent: AgentPage,
  params: object,
  answer: (card: Locator) => Promise<void>
): Promise<unknown> {
  const asked = agent.ask('elicitation/create', params);
  await expect(agent.cards).toHaveCount(1);
  await answer(agent.cards);
  return asked;
}

test('a form has every kind of field, checks them, and keeps their types', async ({
  page,
  request
}) => {
  const agent = await AgentPage.begin(page, request);
  const result = await ask(
    agent,
    {
      mode: 'form',
      message: 'Tell me',
      requestedSchema: {
        type: 'object',
        required: ['name', 'age', 'colours'],
        properties: {
          name: {
            type: 'string',
            title: 'Name',
            pattern: '^[A-Z]',
            minLength: 2
          },
          mail: { type: 'string', title: 'Mail', format: 'email' },
          site: { type: 'string', title: 'Site', format: 'uri' },
          day: { type: 'string', title: 'Day', format: 'date' },
          moment: { type: 'string', title: 'Moment', format: 'date-time' },
          age: { type: 'integer', title: 'Age', minimum: 1, maximum: 150 },
          share: { type: 'number', title: 'Share', default: 0.5 },
          sure: { type: 'boolean', title: 'Sure', default: true },
          size: { type: 'string', title: 'Size', enum: ['S', 'M'] },
          shape: {
            type: 'string',
            title: 'Shape',
            oneOf: [
              { const: 'c', title: 'Circle' },
              { const: 's', title: 'Square' }
            ]
          },
          colours: {
            type: 'array',
            title: 'Colours',
            minItems: 1,
            maxItems: 2,
            items: { enum: ['red', 'green', 'blue'] }
          },
          left: { type: 'string', title: 'Left out' }
        }
      }
    },
    async card => {
      const submit = card.getByRole('button', { name: 'Submit' });
      await card.getByLabel('Name').fill('ada');
      await card.getByLabel('Age').fill('200');
      await card.getByLabel('Mail').fill('no mail');
      for (const colour of ['red', 'green', 'blue']) {
        await card.getByLabel(colour).check();
      }
      const invalid = (): Promise<string[]> =>
        card
          .locator('input:invalid, select:invalid')
          .evaluateAll(nodes =>
            nodes.map(node => (node as HTMLInputElement).labels![0].innerText)
          );
      await submit.click();
      expect((await invalid()).map(name => name.replace(' *', ''))).toEqual([
        'Name',
        'Mail',
        'Age',
        'red'
      ]);
      await card.getByLabel('Name').fill('Ada');
      await card.getByLabel('Age').fill('36');
      await card.getByLabel('Mail').fill('ada@example.org');
      await card.getByLabel('Site').fill('https://example.org/');
      await card.getByLabel('Day').fill('2026-11-18');
      await card.getByLabel('Moment').fill('2026-11-18T10:30');
      await card.getByLabel('green').uncheck();
      await card.getByLabel('Size').selectOption('M');
      await card.getByLabel('Shape').selectOption({ label: 'Square' });
      await submit.click();
    }
  );
  const moment = await page.evaluate(() =>
    new Date('2026-11-18T10:30').toISOString()
  );
  expect(result).toEqual({
    action: 'accept',
    content: {
      name: 'Ada',
      mail: 'ada@example.org',
      site: 'https://example.org/',
      day: '2026-11-18',
      moment,
      age: 36,
      share: 0.5,
      sure: true,
      size: 'M',
      shape: 's',
      colours: ['red', 'blue']
    }
  });
});

test('a page is opened only if the person wants it', async ({
  page,
  request,
  context
}) => {
  const agent = await AgentPage.begin(page, request);
  const url = `${new URL(page.url()).origin}/api?elicited=1`;
  const opened = context.waitForEvent('page');
  expect(
    await ask(agent, { mode: 'url', message: 'Log in', url }, async card => {
      await expect(card).toContainText(url);
      await card.getByRole('button', { name: 'Open' }).click();
    })
  ).toEqual({ action: 'accept' });
  expect((await opened).url()).toBe(url);
  expect(
    await ask(agent, { mode: 'url', message: 'Log in', url }, card =>
      card.getByRole('button', { name: 'Decline' }).click()
    )
  ).toEqual({ action: 'decline' });
  await ask(
    agent,
    { mode: 'url', message: 'Run', url: 'javascript:alert(1)' },
    async card => {
      await expect(card.getByRole('button', { name: 'Open' })).toHaveCount(0);
      await card.getByRole('button', { name: 'Decline' }).click();
    }
  );
});

const COLOURS = {
  mode: 'form',
  message: 'Tell me',
  requestedSchema: {
    type: 'object',
    properties: {
      name: { type: 'string', title: 'Name' },
      colours: {
        type: 'array',
        title: 'Colours',
        description: 'Of the walls',
        minItems: 1,
        items: { enum: ['red', 'green'] }
      }
    }
  }
};

test('several choices are one question, which may be left open', async ({
  page,
  request
}) => {
  const agent = await AgentPage.begin(page, request);
  expect(
    await ask(agent, COLOURS, async card => {
      const group = card.getByRole('group', { name: 'Colours' });
      await expect(group).toHaveAccessibleDescription('Of the walls');
      await expect(group.getByText('Of the walls')).toBeVisible();
      const red = group.getByRole('checkbox', { name: 'red', exact: true });
      await expect(red).toHaveAccessibleName('red');
      await group.getByText('Colours').click();
      await expect(red).not.toBeChecked();
      await red.check();
      await red.uncheck();
      await card.getByRole('button', { name: 'Submit' }).click();
    })
  ).toEqual({ action: 'accept', content: {} });
});

test('a form that is half filled in waits for the person to come back', async ({
  page,
  request
}) => {
  const agent = await AgentPage.begin(page, request);
  const name = agent.cards.getByLabel('Name');
  const green = agent.cards.getByLabel('green');
  await agent.newSession('builtin');
  const tabs = agent.panel.getByRole('tab');
  await tabs.first().click();
  await agent.send(
    JSON.stringify([['request', 'elicitation/create', COLOURS]])
  );
  await name.fill('Ada');
  await green.check();
  await tabs.last().click();
  await expect(agent.cards).toHaveCount(0);
  await tabs.first().click();
  await expect(name).toHaveValue('Ada');
  await expect(green).toBeChecked();
  await agent.button('Submit').click();
  await agent.isIdle();
  await expect(agent.answers.last()).toContainText('"Ada"');
  await expect(agent.answers.last()).toContainText('["green"]');
});
