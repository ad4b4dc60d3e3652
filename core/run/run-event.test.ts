import { expect, test } from 'vitest';
import { readRunEvents } from './run-event.ts';

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
