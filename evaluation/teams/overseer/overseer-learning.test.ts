import { isAwaitingReview } from '@gaia-mesh/tools/roles/memory/attempt.ts';
import { finalOf } from '@gaia-mesh/tools/roles/testing/final-payload.ts';
import { says, textOf } from '@gaia-mesh/tools/roles/testing/role-model.ts';
import { describe, expect, test } from 'vitest';
import { QUESTION, readStore, startOverseer, TRUTH } from './testing/overseer.ts';

describe('a gap record', () => {
  test('is in the brief of the very next attempt, structured, and helps the plan (OV-02, OV-15, OV-43)', async () => {
    const { model, ask } = await startOverseer(
      { execute: [says('FINAL ANSWER: Miller'), says(`FINAL ANSWER: ${TRUTH}`)] },
      { teamOptions: { retry: { attempts: 2 } } },
    );

    expect(finalOf(await ask())).toMatchObject({
      answer: TRUTH,
      details: { attempts: 2, resolution_type: 'correct' },
    });
    const [first, second] = model.asked('plan').map(textOf);
    expect(first).not.toContain('Hints:\n');
    expect(second).toContain(
      'Hints:\nHint 1\n  observed: reasoning_gap, reasoning\n  pattern: a part of a document is asked for by its place\n' +
        '  cause: the first match is taken without counting\n  advice: number the parts before choosing one of them',
    );
  });

  test('is in the brief of a later cycle, whose attempt is recorded with it (OV-15, OV-30, OV-45)', async () => {
    const { store, ask } = await startOverseer({
      execute: [says('FINAL ANSWER: Miller'), says(`FINAL ANSWER: ${TRUTH}`)],
    });
    await ask('t');
    await ask('t-2');

    const attempts = await (await readStore(store)).attempts();
    expect(attempts.map(({ cycle, attempt_number, correct }) => [cycle, attempt_number, correct])).toEqual([
      [1, 1, false],
      [2, 2, true],
    ]);
    expect(attempts[1]?.pm_brief).toContain('number the parts before choosing one of them');
  });

  test('is found for another question of the kind, the most relevant first (OV-16)', async () => {
    const { model, mesh, ask } = await startOverseer({
      abstract: [
        {
          content: {
            kind: 'planning_hint',
            pattern: 'a surname in a letter',
            cause: 'the wrong line is read',
            advice: 'count lines',
          },
        },
        {
          content: {
            kind: 'planning_hint',
            pattern: 'a price in a table',
            cause: 'the wrong column is read',
            advice: 'read headers',
          },
        },
      ],
    });
    await ask('t');
    await ask('t-2');
    await mesh.ask({ question: 'Which price does the table of the shop have in its last column?' }, 't-3');

    const brief = textOf(model.asked('plan')[2]);
    expect(brief.indexOf('read headers')).toBeGreaterThan(0);
    expect(brief.indexOf('count lines')).toBeGreaterThan(brief.indexOf('read headers'));
  });

  test.each([
    ['the answer', { pattern: `letters with ${TRUTH} in them` }],
    ['the answer in other letters', { advice: `try ${TRUTH.toLowerCase()} first` }],
  ])('that tells %s is not stored, and the run goes on (OV-12)', async (_, change) => {
    const gap = { kind: 'planning_hint', pattern: 'p', cause: 'c', advice: 'a', ...change };
    const { store, ask } = await startOverseer({ abstract: [{ content: gap }] });

    expect(finalOf(await ask())).toMatchObject({ answer: 'Miller', details: { gap_stored: false } });
    const kept = await readStore(store);
    expect(await kept.gapRecords({ questionType: 'web', question: QUESTION, limit: 50 })).toEqual([]);
    expect((await kept.attempts())[0]?.gap_record).toBeNull();
  });

  test('that wants more than to inform a plan waits for a person (OV-17, OV-19)', async () => {
    const gap = { kind: 'prompt_change', pattern: 'p', cause: 'c', advice: 'change the prompt' };
    const { model, store, ask } = await startOverseer({ abstract: [{ content: gap }] });
    await ask('t');
    await ask('t-2');

    expect(textOf(model.asked('plan')[1])).not.toContain('Hints:\n');
    const waiting = (await (await readStore(store)).gapRecordPage()).filter(isAwaitingReview);
    expect(waiting).toMatchObject([{ kind: 'prompt_change', status: 'proposed' }, { kind: 'prompt_change' }]);
  });
});

describe('the true answer', () => {
  test('reaches the diagnosis alone: no packet and no prompt of planner and executor, nor the final packet, has it (OV-05, OV-12, OV-18)', async () => {
    const { model, mesh, ask } = await startOverseer({}, { teamOptions: { retry: { attempts: 2 } } });

    const outcome = await ask();
    finalOf(outcome);

    const tells = (value: unknown) => JSON.stringify(value).toLowerCase().includes(TRUTH.toLowerCase());
    const toldTo = mesh
      .sentBy('runner')
      .filter(tells)
      .map(({ to, type }) => `${to} ${type}`);
    expect(new Set(toldTo)).toEqual(
      new Set(['diagnose diagnose.call', 'abstract abstract.call', 'gap_store gap_store.call']),
    );
    expect(tells(outcome.final)).toBe(false);
    for (const role of ['plan', 'execute'] as const) {
      expect(model.asked(role)).toHaveLength(2);
      expect(tells(model.asked(role).map(({ body }) => body))).toBe(false);
    }
    expect(tells(model.asked('diagnose')[0]?.body)).toBe(true);
    // The overseer's roles reply only to the runner, and not to the agents that work on the question.
    for (const role of ['diagnose', 'abstract']) {
      expect(new Set(mesh.sentBy(role).map(({ to }) => to))).toEqual(new Set(['runner']));
    }
  });

  test('is not in what is said of an overseer whose model fails, and the answer stands', async () => {
    const { store, ask } = await startOverseer({ diagnose: [says(`no JSON but ${TRUTH}`)] });

    const final = finalOf(await ask());

    expect(final).toMatchObject({ answer: 'Miller', details: { gap_stored: false } });
    expect(JSON.stringify(final)).not.toContain(TRUTH);
    expect(final.reasoning_trace).toContain('diagnose failed (reply): nothing is learned from this attempt');
    const [attempt] = await (await readStore(store)).attempts();
    expect(attempt).toMatchObject({ correct: false, overseer_diagnosis: null });
  });

  test('has to be known: without it the overseer does not run', async () => {
    const { mesh, model } = await startOverseer();

    const outcome = await mesh.ask({ question: QUESTION }, 'unknown');

    expect(outcome).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining('needs the true answer of unknown'),
    });
    expect(model.requests).toHaveLength(0);
  });
});
