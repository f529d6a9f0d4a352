// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { newToolCall } from '../../src/tools/call';
import { Terminals } from '../../src/tools/terminals';

function holder(...ids: string[]) {
  const call = newToolCall('t');
  call.content = ids.map(terminalId => ({ type: 'terminal', terminalId }));
  return { revision: 0, call };
}

describe('Terminals', () => {
  it('give a call what was printed before and after it named them', () => {
    const terminals = new Terminals();
    terminals.printed('x', 'a');
    const shown = holder('x');
    terminals.show(shown);
    terminals.printed('x', 'b');
    expect(shown.call.terminals.x.output.text).toBe('ab');
    expect(shown.revision).toBe(1);
  });

  it('tell only the call that shows them', () => {
    const terminals = new Terminals();
    const [one, other] = [holder('x'), holder('y')];
    terminals.show(one);
    terminals.show(other);
    terminals.printed('y', 'b');
    expect([one.revision, other.revision]).toEqual([0, 1]);
  });

  it('have a name until they end or are left', () => {
    const terminals = new Terminals();
    const shown = holder('x', 'y');
    terminals.created('x', 'agent_1');
    terminals.created('y', 'agent_2');
    terminals.show(shown);
    terminals.exited('x', { exitCode: 1 });
    expect(shown.call.terminals.x).toMatchObject({
      name: undefined,
      exit: { exitCode: 1 }
    });
    expect(shown.call.terminals.y.name).toBe('agent_2');
    terminals.leave();
    expect(shown.call.terminals.y.name).toBeUndefined();
  });

  it('take ids that objects have a meaning for', () => {
    const terminals = new Terminals();
    const shown = holder('__proto__', 'valueOf');
    terminals.show(shown);
    terminals.printed('__proto__', 'a');
    terminals.printed('valueOf', 'b');
    const { terminals: outputs } = shown.call;
    expect(outputs['__proto__'].output.text).toBe('a');
    expect(outputs['valueOf' as string].output.text).toBe('b');
    expect(({} as Record<string, unknown>).output).toBeUndefined();
  });
});
