import { sampleAttempt } from '@gaia-mesh/evaluation/store/testing/samples.ts';
import { formatHint, type StoredGapRecord } from '@gaia-mesh/tools/roles/memory/attempt.ts';
import { expect, test } from 'vitest';
import { computeGapEffects } from './gaps.ts';

const record = (id: number, attempt_id: string | null = null): StoredGapRecord => ({
  ...{ id, attempt_id, status: 'proposed', created_at: '2026-04-01T10:00:00.000Z', kind: 'planning_hint' },
  ...{ question_type: 'table', failure_type: 'reasoning_gap', point: 'plan', tool: '' },
  ...{ pattern: `pattern ${id}`, cause: 'a cause', advice: 'an advice' },
});

/** An attempt at question `task_id`, with the record in its brief or without. */
const attempt = (id: number, task_id: string, correct: boolean, hint?: StoredGapRecord) => ({
  ...sampleAttempt({
    attempt_id: `a${id}`,
    team: 'overseer',
    task_id,
    question: `What is ${task_id}?`,
    correct,
  }),
  ...{ id, pm_brief: hint === undefined ? '' : `Hint 1\n${formatHint(hint)}` },
});

test('of a record with ten questions that it mended the effect is shown, with its interval', () => {
  const hint = record(1);
  const attempts = Array.from({ length: 10 }, (_, i) => [
    attempt(2 * i + 1, `q${i}`, false),
    attempt(2 * i + 2, `q${i}`, true, hint),
  ]).flat();

  const effect = computeGapEffects([hint], attempts).get(1);
  expect(effect).toMatchObject({ questions: 10, right_without: 0, right_with: 10, verdict: 'better' });
  expect(effect?.low).toBeGreaterThan(0);
});

test('two mended questions cannot tell, and the question that a record was made from does not count', () => {
  const hint = record(1, 'a1');
  const attempts = [
    attempt(1, 'own', false),
    attempt(2, 'own', true, hint),
    ...['x', 'y'].flatMap((id, i) => [attempt(3 + 2 * i, id, false), attempt(4 + 2 * i, id, true, hint)]),
  ];

  expect(computeGapEffects([hint], attempts).get(1)).toMatchObject({
    questions: 2,
    difference: 1,
    verdict: 'cannot tell',
  });
  expect(computeGapEffects([hint], attempts.slice(0, 2)).get(1)).toBeUndefined();
  expect(computeGapEffects([hint], [attempt(1, 'x', true, hint)]).size).toBe(0);
});
