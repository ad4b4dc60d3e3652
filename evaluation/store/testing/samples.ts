import type { Attempt, GapRecord } from '@gaia-mesh/tools/roles/memory/attempt.ts';
import type { CacheKey } from '../store.ts';

/** A wrong attempt with a complete trace. */
export function sampleAttempt(change: Partial<Attempt> = {}): Attempt {
  return {
    attempt_id: 'run-1/t1/1',
    run_id: 'run-1',
    team: 'overseer',
    cycle: 1,
    task_id: 't1',
    question: 'How many moons of Saturn were known in 1980?',
    question_type: 'lookup',
    level: '1',
    pm_brief: 'Hints:\n- none',
    pm_plan: { question_type: 'lookup', tools: ['web_search'], reasoning: 'look it up', avoid: [] },
    tool_calls: [{ tool: 'web_search', arguments: { query: 'moons' }, result: 'a list' }],
    trace: [
      { step: 'tool', tool: 'web_search' },
      { step: 'reasoning', text: 'the list is of today' },
    ],
    raw_answer: 'about 145 moons',
    final_answer: '145',
    correct: false,
    resolution_type: 'retrieval_failure',
    overseer_diagnosis: 'The list that was read is of today, not of the year in the question.',
    tokens: 1234,
    cost: 0.0125,
    seconds: 3.5,
    ...change,
  };
}

export function sampleGapRecord(change: Partial<GapRecord> = {}): GapRecord {
  return {
    kind: 'planning_hint',
    question_type: 'lookup',
    failure_type: 'retrieval_failure',
    point: 'tool_result',
    tool: 'wikipedia',
    pattern: 'a count that is asked for as of a past date',
    cause: 'the page that is found first shows the present state',
    advice: 'look for a dated revision, and compare its date with the one in question',
    ...change,
  };
}

export function sampleKey(change: Partial<CacheKey> = {}): CacheKey {
  return { question: 'How old?', fileHash: null, team: 'react', model: 'm', promptVersion: '1', ...change };
}
