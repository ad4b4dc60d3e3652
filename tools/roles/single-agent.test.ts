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

  test('reads the document without a model', async () => {
    const mesh = await startTeamMesh({ agents: AGENTS });

    const outcome = await mesh.ask({
      question: 'In which year was the lighthouse built?',
      chunks: ['The lighthouse stands on the island of Utsira. It was built in 1844.'],
    });

    expect(finalOf(outcome)).toMatchObject({ answer: '1844', usage: [], tool_calls: [] });
    expect(outcome.counts.token_sum).toBeGreaterThan(10);
  });

  test.each([
    ['nothing to read', {}, 'there is no text to read'],
    ['a table', { file_name: 'a.CSV', chunks: ['name,age\nIda,41'] }, 'a.CSV is a table'],
    ['data', { file_name: 'a.json', chunks: ['{"by": "Ida"}'] }, 'a.json is a data file'],
    ['a program', { file_name: 'a.py', chunks: ['print(1)'] }, 'a.py is a program'],
    ['a picture', { file_name: 'a.png' }, 'a.png is a picture'],
    ['a recording', { file_name: 'a.mp3' }, 'a.mp3 is a recording'],
    ['an archive', { file_name: 'a.zip' }, 'a.zip is an archive'],
    ['a file of another kind', { file_name: 'a.xyz' }, 'a.xyz is a file of an unknown kind'],
  ])(
    'that is given %s says that this takes a model, which counts as no answer (RA-12)',
    async (_, given, why) => {
      const mesh = await startTeamMesh({ agents: AGENTS });

      const final = finalOf(await mesh.ask({ question: 'Who wrote it?', ...given }));

      expect(final.answer).toBe('No answer was found.');
      expect(final.raw_answer).toBe(
        `The engine extractive answers from texts and tables alone, and ${why}: this question takes a model, such as --engine ollama.`,
      );
    },
  );

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
