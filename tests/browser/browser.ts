// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import {
  type APIRequestContext,
  type BrowserContext,
  test as base
} from '@playwright/test';

export * from '@playwright/test';

/** End turns that wait for an answer: nobody else gets one from the agent meanwhile. */
async function endTurns(request: APIRequestContext): Promise<void> {
  const listed = await request.get('/acp/sessions');
  const { sessions } = (await listed.json()) as {
    sessions: { id: string; state: string }[];
  };
  for (const { id } of sessions.filter(({ state }) => state === 'running')) {
    await request.delete(`/acp/sessions/${id}`);
  }
}

/**
 * Tests share a browser with a profile on disk, as people's browsers have one: what it has compiled of
 * JupyterLab serves the next test, too. What a test may have left behind in it is cleared away.
 */
export const test = base.extend<object, { profile: BrowserContext }>({
  profile: [
    async ({ playwright }, use, { project }) => {
      const folder = await mkdtemp(join(tmpdir(), 'jupyter-acp-profile-'));
      const { launchOptions, baseURL, extraHTTPHeaders, viewport } =
        project.use;
      const profile = await playwright.chromium.launchPersistentContext(
        folder,
        { ...launchOptions, baseURL, extraHTTPHeaders, viewport }
      );
      // One has to be open all the time, or there is no window.
      await profile.pages()[0].goto('about:blank');
      await use(profile);
      await profile.close();
      await rm(folder, { recursive: true, force: true });
    },
    { scope: 'worker' }
  ],
  context: async ({ profile, baseURL, request }, use, testInfo) => {
    await use(profile);
    if (testInfo.status !== testInfo.expectedStatus) {
      await endTurns(request);
    }
    const [blank, ...pages] = profile.pages();
    for (const page of pages) {
      await page.close();
    }
    const devtools = await profile.newCDPSession(blank);
    await devtools.send('Storage.clearDataForOrigin', {
      origin: new URL(baseURL!).origin,
      storageTypes: 'cookies,local_storage,indexeddb,websql,service_workers'
    });
    await devtools.detach();
    await profile.clearPermissions();
    await profile.unrouteAll();
  }
});
