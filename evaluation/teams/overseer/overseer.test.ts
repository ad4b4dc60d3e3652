import { finalOf } from '@gaia-mesh/tools/roles/testing/final-payload.ts';
import { calls, says, textOf } from '@gaia-mesh/tools/roles/testing/role-model.ts';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { traceFaults } from '../../store/testing/trace-faults.ts';
import { OVERSEER, QUESTION, readStore, startOverseer, TRUTH } from './testing/overseer.ts';

const RIGHT = [says(`FINAL ANSWER: ${TRUTH}`)];

describe('a correct attempt', () => {
  test('is recorded, and the overseer is not asked at all (OV-10, OV-20, OV-40)', async () => {
    const { model, mesh, store, ask } = await startOverseer({ execute: RIGHT });

    const final = finalOf(await ask());

    expect(final).toMatchObject({ answer: TRUTH, details: { attempts: 1, resolution_type: 'correct' } });
    expect(model.asked('diagnose')).toEqual([]);
    expect(model.asked('abstract')).toEqual([]);
    expect(mesh.relayed()).toEqual([
      'runner>gap_store gap_store.call',
      'gap_store>runner gap_store.result',
      'runner>plan plan.call',
      'plan>runner plan.result',
      'runner>execute execute.call',
      'execute>runner execute.result',
      'runner>gap_store gap_store.call',
      'gap_store>runner gap_store.result',
      'runner>* data_event',
    ]);
    const [attempt] = await (await readStore(store)).attempts();
    expect(attempt).toMatchObject({
      correct: true,
      resolution_type: 'correct',
      overseer_diagnosis: null,
      gap_record: null,
      task_id: 't',
      cycle: 1,
      level: '1',
    });
  });
});

describe('a wrong attempt', () => {
  test('is diagnosed, abstracted and stored, in this order, by two separate calls (OV-10, OV-13, OV-40)', async () => {
    const { model, mesh, ask } = await startOverseer();

    const final = finalOf(await ask());

    expect(final).toMatchObject({
      answer: 'Miller',
      details: { attempts: 1, resolution_type: 'reasoning_gap', gap_stored: true },
    });
    expect(model.order()).toEqual(['plan', 'execute', 'diagnose', 'abstract']);
    const asked = mesh.relayed().filter((packet) => packet.startsWith('runner>'));
    expect(asked.slice(0, 4)).toEqual([
      'runner>gap_store gap_store.call',
      'runner>plan plan.call',
      'runner>execute execute.call',
      'runner>diagnose diagnose.call',
    ]);
    expect(asked.slice(4, 6).sort()).toEqual([
      'runner>abstract abstract.call',
      'runner>gap_store gap_store.call',
    ]);
    const toStore = 'runner>gap_store gap_store.call';
    expect(asked.slice(6)).toEqual([toStore, toStore, 'runner>* data_event']);
  });

  test('is recorded whole: brief, plan, raw tool calls, raw answer, diagnosis word for word, gap record (OV-06, OV-30 to OV-37)', async () => {
    const { model, store, ask } = await startOverseer(
      {
        execute: [
          calls('list_files', {}, 'First the list.'),
          calls('read_file', { file: 'letter.txt' }),
          says('I count the lines.\nFINAL ANSWER: **Miller**.'),
        ],
      },
      { files: { 'letter.txt': 'Miller\nZ.\n' } },
    );
    await ask();

    const [attempt] = await (await readStore(store)).attempts();
    expect(attempt).toMatchObject({
      pm_brief: '',
      pm_plan: { strategy: 'read the letter', failure_modes: ['taking the first match'] },
      raw_answer: 'I count the lines.\nFINAL ANSWER: **Miller**.',
      final_answer: 'Miller',
      correct: false,
      resolution_type: 'reasoning_gap',
      overseer_diagnosis: `It read the first line, not the second, which has ${TRUTH}.`,
      gap_record: {
        pattern: 'a part of a document is asked for by its place',
        failure_type: 'reasoning_gap',
      },
    });
    expect(attempt?.tool_calls).toMatchObject([
      { tool: 'list_files', arguments: {}, text: 'Files found:\n./letter.txt' },
      { tool: 'read_file', arguments: { file: 'letter.txt' }, text: expect.stringContaining('Miller\nZ.') },
    ]);
    // The trace has the PM's plan, the work of main, and the point where the chain broke.
    expect(attempt === undefined ? ['there is none'] : traceFaults(attempt)).toEqual([]);
    expect(attempt?.trace.length).toBeGreaterThan(4);
    expect(attempt?.tokens).toBe(4 * 110);
    expect(textOf(model.asked('diagnose')[0])).toContain('read_file({"file":"letter.txt"}) → ');
  });

  test('has its searches on record word for word, those in vain among them, and the diagnosis reads them (OV-32, OV-49)', async () => {
    vi.stubEnv('SEARXNG_URL', '');
    onTestFinished(() => void vi.unstubAllEnvs());
    const query = '"second line" letter surname 1868';
    const agents = OVERSEER.map((agent) =>
      agent.id === 'execute' ? { ...agent, may_call: ['searxng_search'] } : agent,
    );
    const { model, store, ask } = await startOverseer(
      { execute: [calls('searxng_search', { query }), says('FINAL ANSWER: Miller')] },
      { agents: [...agents, { id: 'searxng_search', tool: 'searxng_search' }] },
    );
    await ask();

    const [attempt] = await (await readStore(store)).attempts();
    expect(attempt?.tool_calls).toMatchObject([
      {
        tool: 'searxng_search',
        arguments: { query },
        failed: true,
        text: expect.stringContaining('SEARXNG_URL'),
      },
    ]);
    expect(textOf(model.asked('diagnose')[0])).toContain(JSON.stringify({ query }));
  });

  test('is diagnosed from everything there is to know, and abstracted from the diagnosis word for word alone (OV-11, OV-12)', async () => {
    const { model, mesh, ask } = await startOverseer();
    await ask();

    const diagnosing = textOf(model.asked('diagnose')[0]);
    for (const part of [
      QUESTION,
      'read the letter',
      'The first line has it.',
      'Answer as scored: Miller',
      `True answer: ${TRUTH}`,
      'Observed: reasoning_gap',
      'Do not propose any remedy',
    ]) {
      expect(diagnosing).toContain(part);
    }
    expect(Object.keys(Object(model.asked('diagnose')[0]?.schema?.properties))).toEqual([
      'point',
      'tool',
      'diagnosis',
    ]);
    const abstracting = textOf(model.asked('abstract')[0]);
    expect(abstracting).toContain(`It read the first line, not the second, which has ${TRUTH}.`);
    expect(abstracting).not.toContain(QUESTION);
    const toAbstract = mesh.sentBy('runner').find(({ to }) => to === 'abstract');
    expect(Object.keys(toAbstract?.payload ?? {}).sort()).toEqual([
      'diagnosis',
      'planned_type',
      'point',
      'question_type',
      'resolution_type',
      'tool',
    ]);
  });

  test('is stored while the overseer’s roles work, and gets the diagnosis afterwards (OV-14, OV-35)', async () => {
    const stored = Promise.withResolvers<void>();
    let replies = 0;
    const { ask, store } = await startOverseer(
      {
        // The role answers only after the attempt has been stored.
        diagnose: async () => {
          await stored.promise;
          return { content: { point: 'plan', tool: '', diagnosis: 'a step is missing' } };
        },
      },
      {
        onRelayed: (packet) => {
          if (packet !== 'gap_store>runner gap_store.result') return;
          replies += 1;
          if (replies === 2) stored.resolve();
        },
      },
    );

    expect(finalOf(await ask()).details).toMatchObject({ gap_stored: true });
    const [attempt] = await (await readStore(store)).attempts();
    expect(attempt).toMatchObject({
      overseer_diagnosis: 'a step is missing',
      gap_record: { cause: expect.any(String) },
    });
  });

  test('is tried again as often as the team file says, and no more often (OV-40)', async () => {
    const { model, store, ask } = await startOverseer(
      {
        execute: [says('FINAL ANSWER: Miller'), says('FINAL ANSWER: Smith'), says(`FINAL ANSWER: ${TRUTH}`)],
      },
      { teamOptions: { retry: { attempts: 2 } } },
    );

    const final = finalOf(await ask());

    expect(final).toMatchObject({ answer: 'Smith', details: { attempts: 2 } });
    expect(model.asked('execute')).toHaveLength(2);
    const attempts = await (await readStore(store)).attempts();
    expect(attempts.map(({ attempt_number }) => attempt_number)).toEqual([1, 2]);
  });
});
