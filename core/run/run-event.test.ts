import { expect, test } from 'vitest';
import { describeTrouble, type NewRunEvent, readRunEvents } from './run-event.ts';

const lines = (...entries: unknown[]) => entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
const up = { level: 'info', time: 1.5, event: 'agent_up', id: '0', tool: 'search', where: '127.0.0.1:9000' };
const ended = { time: 2, event: 'task_ended', task_id: 't', status: 'answered', elapsed_ms: 3, token_sum: 4 };

test('the events of a log are read in order; other lines, keys and a last line that is cut are skipped', () => {
  const log = lines(
    up,
    { ...ended, answer: 'a', other_measure: 0.5 },
    { time: 4, event: 'of another version' },
    { time: 5, event: 'agent_up' },
    'text',
  );
  const found = [up, { ...ended, answer: 'a' }];
  expect([...readRunEvents(log)]).toEqual(found);
  expect([...readRunEvents(`${log}\n\n{"time":6,"event":"run_e`)]).toEqual(found);
  expect([...readRunEvents(log.trimEnd())]).toEqual(found);
  expect([...readRunEvents('')]).toEqual([]);
});

test('some kinds of events are read alone', () => {
  // A text that looks like an event is none.
  const log = lines(up, { ...ended, answer: '"event":"agent_up"' });
  expect([...readRunEvents(log, ['agent_up'])].map(({ where }) => where)).toEqual(['127.0.0.1:9000']);
  expect([...readRunEvents(log, ['run_ended'])]).toEqual([]);
});

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
  ['fault: kill=1@2s is over', { event: 'fault_ended', kind: 'kill', fault: 'kill=1@2s' }],
])('a trouble is described as "%s"', (sentence, event) => {
  expect(describeTrouble(event)).toBe(sentence);
});
