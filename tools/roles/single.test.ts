import { describe, expect, test } from 'vitest';
import { finalOf } from './testing/final-payload.ts';
import { says, startRoleModel, textOf } from './testing/role-model.ts';
import { startTeamMesh } from './testing/team-mesh.ts';

const AGENTS = [{ id: 'alone', tool: 'answer_alone' }];

describe('a single agent', () => {
  test('answers from the question and the document, with no tools and nobody to ask', async () => {
    const model = await startRoleModel({ alone: [says('FINAL ANSWER: heron')] });
    const mesh = await startTeamMesh({ agents: AGENTS, modelUrl: model.url });

    const final = finalOf(
      await mesh.ask({ question: 'Which bird?', chunks: ['It is ', 'a heron.'], file_name: 'a.txt' }),
    );

    expect(final.answer).toBe('heron');
    expect(mesh.relayed()).toEqual(['alone>* data_event']);
    const [request] = model.asked('alone');
    expect(request?.tools).toEqual([]);
    expect(textOf(request)).toContain('Attached file: a.txt\n\nDocument:\nIt is a heron.');
  });

  test('answers by rules without a model', async () => {
    const mesh = await startTeamMesh({ agents: AGENTS });

    const outcome = await mesh.ask({
      question: 'In which year was the lighthouse built?',
      chunks: ['The lighthouse stands on the island of Utsira. It was built in 1844.'],
    });

    expect(finalOf(outcome)).toMatchObject({ answer: '1844', usage: [], tool_calls: [] });
    expect(outcome.counts.token_sum).toBeGreaterThan(10);
  });

  test('says so where rules cannot do it, which counts as no answer (RA-12)', async () => {
    const mesh = await startTeamMesh({ agents: AGENTS });

    const final = finalOf(await mesh.ask({ question: 'Who wrote it?' }));

    expect(final.answer).toBe('No answer was found.');
    expect(final.raw_answer).toContain('it takes a model');
  });

  test('is not given a document without end: it is cut with a mark', async () => {
    const model = await startRoleModel({ alone: [says('FINAL ANSWER: heron')] });
    const mesh = await startTeamMesh({ agents: AGENTS, modelUrl: model.url });

    finalOf(await mesh.ask({ question: 'Which bird?', chunks: Array(750).fill('x'.repeat(400)) }));

    expect(textOf(model.asked('alone')[0])).toContain('[cut: 300000 characters in all]');
    expect(textOf(model.asked('alone')[0]).length).toBeLessThan(105_000);
  });

  test('fails with the key of an option that cannot be used (REQ-076)', async () => {
    const model = await startRoleModel({ alone: [says('FINAL ANSWER: heron')] });
    const mesh = await startTeamMesh({
      agents: AGENTS,
      modelUrl: model.url,
      teamOptions: { iterations: 'ten' },
    });

    const outcome = await mesh.ask({ question: 'Which bird?' });

    expect(outcome).toMatchObject({ status: 'failed', reason: expect.stringContaining('iterations') });
    expect(model.requests).toHaveLength(0);
  });
});
