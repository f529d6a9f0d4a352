// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { decodeQuestion } from '../../src/decode/questions';
import { decodeSetup } from '../../src/decode/setup';
import { Method } from '../../src/protocol';
import { toMarkdown } from '../../src/transcript/export';
import { toRows } from '../../src/transcript/groups';
import { Transcript } from '../../src/transcript/transcript';
import { english, numbered } from '../support/helpers';
import { mutated } from '../support/mutate';
import { Random } from '../support/random';
import { MESSAGES, QUESTIONS, SETUP } from '../support/samples';

const ROUNDS = 3000;

describe('messages of any shape', () => {
  it('never stop a transcript, its rows or its export', () => {
    const random = new Random(7);
    let transcript = new Transcript();
    for (let round = 1; round <= ROUNDS; round++) {
      const { method, params } = random.pick(MESSAGES);
      const seq = transcript.seq + 1;
      const given = mutated(params, random) as Record<string, unknown>;
      expect(transcript.receive(method, numbered(seq, { ...given }))).toBe(
        'applied'
      );
      expect(transcript.seq).toBe(seq);
      if (round % 100 === 0) {
        const { items } = transcript;
        toRows(items, new Set());
        toMarkdown({ title: 'T', agent: 'A', items, trans: english });
        transcript = Transcript.after(transcript, seq);
      }
    }
  });

  it('are shown as they are where nothing is wrong', () => {
    const transcript = new Transcript();
    for (const { method, params } of MESSAGES) {
      transcript.receive(method, numbered(transcript.seq + 1, params));
    }
    expect(transcript.items.map(({ kind }) => kind)).not.toContain('dropped');
    expect(transcript.items.length).toBeGreaterThan(10);
  });

  it('make questions and offers that can be shown', () => {
    const random = new Random(11);
    for (let round = 0; round < ROUNDS; round++) {
      const { method, params } = random.pick(QUESTIONS);
      const dropped: unknown[] = [];
      const drop = (part: unknown): void => void dropped.push(part);
      const question = decodeQuestion(method, mutated(params, random), drop);
      expect(question.kind).toBe(
        method === Method.elicit ? 'elicitation' : 'permission'
      );
      decodeSetup(mutated(SETUP, random), drop);
    }
  });
});
