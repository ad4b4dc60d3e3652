import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { expect, test } from 'vitest';
import { createExtractiveEngine } from '../engines/extractive.ts';
import { toolContext } from '../fixtures/tool-surroundings.ts';
import { plan } from './plan.ts';

const call = (brief: string): Packet => ({
  type: 'plan.call',
  from: 'runner',
  to: 'plan',
  id: 'p1',
  task_id: 't1',
  token_used: 0,
  ts: 1,
  payload: { question: 'Which ship?', file: 'a.csv', document: '', tools: [], brief, last: '', feedback: '' },
});

const context = toolContext(createExtractiveEngine());

test('a plan without a model takes the advice of gap records along, to whoever carries it out', async () => {
  const brief = 'Hint 1\n  pattern: a table\n  advice: read every row\nHint 2\n  advice: check the units';
  const [reply] = await plan.run(call(brief), context);
  expect(reply?.payload.failure_modes).toEqual(['read every row', 'check the units']);
  const [without] = await plan.run(call(''), context);
  expect(without?.payload.failure_modes).toEqual([]);
});
