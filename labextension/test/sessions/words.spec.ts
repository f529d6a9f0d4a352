// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { repositoryOf } from '../../src/remote/words';
import { placeOf } from '../../src/sessions/words';

describe('where a session works', () => {
  it.each([
    ['https://example.org/you/project.git', 'project'],
    ['https://example.org/you/project/', 'project'],
    ['git@example.org:project.git', 'project'],
    ['git@example.org:you/my.project', 'my.project'],
    ['ssh://git@example.org:22/~you/project.git/', 'project'],
    ['file:///srv/project.git', 'project'],
    ['', '']
  ])('is called after the repository at %s', (url, name) => {
    expect(repositoryOf(url)).toBe(name);
  });

  it('is a folder if it is here', () => {
    const session = { id: 's', agent: 'mine', cwd: '/root/sub' };
    expect(placeOf(session, '/root')).toBe('sub');
    const remote = {
      type: 'git' as const,
      url: 'https://example.org/you/project.git',
      branch: 'main',
      revision: ''
    };
    expect(placeOf({ ...session, remote }, '/root')).toBe('project');
  });
});
