import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { finalOf } from '@gaia-mesh/tools/roles/testing/final-payload.ts';
import { calls, says, textOf } from '@gaia-mesh/tools/roles/testing/role-model.ts';
import { startTeamMesh } from '@gaia-mesh/tools/roles/testing/team-mesh.ts';
import { describe, expect, test } from 'vitest';
import { OVERSEER, QUESTION, readStore, startOverseer, storeFile, TRUTH } from './testing/overseer.ts';

const RIGHT = [says(`FINAL ANSWER: ${TRUTH}`)];

describe('the roles of the overseer', () => {
  test('have no tools but the one that executes (OV-03, OV-04, OV-05)', async () => {
    const { model, mesh, ask } = await startOverseer();
    await ask();

    expect(model.asked('execute')[0]?.tools.map(({ name }) => name)).toEqual(['list_files', 'read_file']);
    for (const role of ['plan', 'diagnose', 'abstract'] as const) {
      expect(model.asked(role)[0]?.tools).toEqual([]);
      expect(mesh.sentBy(role).every(({ to }) => to === 'runner')).toBe(true);
    }
    expect(mesh.refused).toEqual([]);
  });

  test('have the plan carried out with it in the prompt (OV-04)', async () => {
    const { model, ask } = await startOverseer();
    await ask();

    expect(textOf(model.asked('execute')[0])).toContain('Strategy: read the letter');
  });

  test('get a plan that is JSON of its form, or ask for it again (OV-02)', async () => {
    const plan = {
      question_type: 'x',
      sub_problems: ['y'],
      strategy: 'z',
      steps: [{ task: 'y', tool: '', needs_information: false }],
      needs_information: false,
      failure_modes: [],
    };
    const { model, ask } = await startOverseer({
      plan: [says('I plan to read.'), { content: plan }],
      execute: RIGHT,
    });

    expect(finalOf(await ask()).answer).toBe(TRUTH);
    expect(textOf(model.asked('plan')[1])).toContain('That reply cannot be used: it is not JSON');
  });

  test('leave an attempt on record that broke off, with the plan that there was (OV-37)', async () => {
    const { store, ask } = await startOverseer({ execute: [{ status: 401, error: 'bad key' }] });

    expect(await ask()).toMatchObject({ status: 'failed', reason: expect.stringContaining('execute: ') });
    const [attempt] = await (await readStore(store)).attempts();
    expect(attempt).toMatchObject({
      correct: false,
      resolution_type: 'server_tool_use',
      pm_plan: { strategy: 'read the letter' },
    });
  });

  test('leave an attempt on record that the deadline cut off, with all that there was until then (OV-37)', async () => {
    const cases = [
      ['execute', 'failed', { plan: true, tools: 1, diagnosis: true }],
      ['plan', 'timeout', { plan: false, tools: 0, diagnosis: false }],
      ['diagnose', 'answered', { plan: true, tools: 1, diagnosis: false }],
    ] as const;
    // The cases run at the same time, since each of them only waits.
    const ends = cases.map(async ([role, status, had]) => {
      const act = calls('read_file', { file: 'letter.txt' });
      const replies = { execute: [act, says('FINAL ANSWER: Miller')], [role]: [{ hang: true }] };
      if (role === 'execute') replies.execute = [act, { hang: true }];
      const { mesh, store } = await startOverseer(replies, {
        // Of this time, a fifth is kept for the work after a cut in `execute`, and a tenth for recording a cut in `plan`.
        teamOptions: { time_s: 10 },
        files: { 'letter.txt': 'Miller' },
      });

      // The mesh's own deadline is far off, except for `plan`, which only that deadline can end.
      const outcome = await mesh.ask({ question: QUESTION }, 't', role === 'plan' ? 10_000 : 60_000);

      const isAnswered = outcome.status === 'answered' && finalOf(outcome).answer !== 'No answer was found.';
      const ended = isAnswered ? 'answered' : outcome.status === 'timeout' ? 'timeout' : 'failed';
      expect([role, ended]).toEqual([role, status]);
      const attempts = await (await readStore(store)).attempts();
      expect(attempts, role).toMatchObject([
        { correct: false, resolution_type: role === 'diagnose' ? 'reasoning_gap' : 'tool_limit' },
      ]);
      expect(attempts.map(({ pm_plan }) => pm_plan !== null)).toEqual([had.plan]);
      expect(attempts[0]?.tool_calls).toHaveLength(had.tools);
      expect(attempts[0]?.overseer_diagnosis !== null).toBe(had.diagnosis);
    });
    await Promise.all(ends);
  });

  test('cannot go on without the store', async () => {
    const file = storeFile();
    writeFileSync(file, 'a file is no folder');
    const { ask } = await startOverseer({}, { store: `${file}/attempts.sqlite` });

    expect(await ask()).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining('gap records cannot be read'),
    });
  });

  test('change no prompt and no team file (OV-19)', async () => {
    const hash = () => {
      const sum = createHash('sha256');
      for (const folder of ['prompts', 'teams']) {
        const url = new URL(`../../../config/${folder}/`, import.meta.url);
        for (const name of readdirSync(fileURLToPath(url)).sort()) {
          sum.update(name).update(readFileSync(new URL(name, url)));
        }
      }
      return sum.digest('hex');
    };
    const before = hash();
    const { ask } = await startOverseer({
      abstract: [
        { content: { kind: 'prompt_change', pattern: 'p', cause: 'c', advice: 'overwrite plan.md' } },
      ],
    });
    await ask('t');
    await ask('t-2');

    expect(hash()).toBe(before);
  });

  test('work without a model, and learn without telling (OV-10, OV-12, OV-15)', async () => {
    const { mesh, store, ask } = await startOverseer({}, { modelUrl: undefined });

    const final = finalOf(await ask());

    expect(final).toMatchObject({
      answer: 'No answer was found.',
      details: { resolution_type: 'reasoning_gap', gap_stored: true },
    });
    expect(JSON.stringify(final)).not.toContain(TRUTH);
    const kept = await readStore(store);
    const [attempt] = await kept.attempts();
    expect(attempt?.overseer_diagnosis).toContain(`True: ${TRUTH}`);
    expect(JSON.stringify(attempt?.gap_record)).not.toContain(TRUTH);
    await ask('t-2');
    expect((await kept.attempts())[1]?.pm_brief).toContain('Hint 1');
    expect(mesh.refused).toEqual([]);
  });
});

test('truths that cannot be read stop the runner before it listens, with file and line', async () => {
  const starting = startTeamMesh({
    agents: OVERSEER,
    workspaceFiles: [{ agent: 'runner', name: 'truths.jsonl', text: '{"task_id":"t"}\n' }],
  });

  await expect(starting).rejects.toMatchObject({
    code: 'config',
    message: expect.stringMatching(/truths\.jsonl:1: /),
  });
});
