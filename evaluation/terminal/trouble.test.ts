import type { NewRunEvent } from '@gaia-mesh/core/run/run-event.ts';
import { expect, test } from 'vitest';
import { describeTrouble } from './trouble.ts';

const delivery = { from: '0', to: '1', id: '0-7', type: 'note', task_id: 't' };
test.each<[string, NewRunEvent]>([
  [
    'agent 0 (search) is gone: no route',
    { event: 'agent_lost', id: '0', tool: 'search', reason: 'no route' },
  ],
  ['agent 0 (search) is gone: SIGKILL', { event: 'agent_died', id: '0', tool: 'search', how: 'SIGKILL' }],
  ['refused from 0: no task (12 B)', { event: 'refused', from: '0', reason: 'no task', bytes: 12 }],
  ['drop: note 0-7 from 0 to 1', { event: 'fault', kind: 'drop', ...delivery }],
  ['delay by 13 ms: note 0-7 from 0 to 1', { event: 'fault', kind: 'delay', ...delivery, delay_ms: 12.6 }],
  ['undeliverable: note 0-7 from 0 to 1', { event: 'undeliverable', kind: 'undeliverable', ...delivery }],
  ['fault: kill=1@2s', { event: 'fault_began', kind: 'kill', fault: 'kill=1@2s' }],
])('a trouble is described as "%s"', (sentence, event) => {
  expect(describeTrouble(event)).toBe(sentence);
});
