import type { FaultCounters } from '../../hub/faults/fault-counters.ts';
import type { TimedFaultRecord } from '../../hub/faults/fault-schedule.ts';
import type { TaskStatus } from '../../hub/tasks/task-clock.ts';
import type { RunMetrics, Scores } from './metrics-schema.ts';

/** `faults` of `metrics.json`: there when faults, or restarts, were asked for. */
export type FaultMetrics = NonNullable<RunMetrics['faults']>;
/** Tasks and how they went, while they are counted. */
export type Answers = { -readonly [Key in keyof FaultMetrics['answers']]: FaultMetrics['answers'][Key] };

export function noAnswers(): Answers {
  return { tasks: 0, answered: 0, right: null };
}

export function addAnswer(answers: Answers, status: TaskStatus, { normalized_em = null }: Scores): void {
  answers.tasks += 1;
  if (status === 'answered') answers.answered += 1;
  if (normalized_em !== null) answers.right = (answers.right ?? 0) + normalized_em;
}

/** Counts what was injected; duplicates are counted when they are written. */
export function injectedOf(
  { total }: FaultCounters,
  timed: readonly TimedFaultRecord[],
): FaultMetrics['injected'] {
  const happened = (kind: TimedFaultRecord['kind']) =>
    timed.filter((record) => record.kind === kind && record.at_ms !== null).length;
  return {
    drop: total.dropped.packets,
    delay: total.delayed.packets,
    dup: total.duplicated.packets,
    corrupt: total.corrupted.packets,
    lie: total.lied.packets,
    kill: happened('kill'),
    stall: happened('stall'),
    partition: happened('partition'),
  };
}

/** Agents that lost nothing are left out. */
export function lossesOf(
  books: FaultCounters,
  agents: readonly { readonly id: string; readonly tool: string }[],
): FaultMetrics['lost'][number][] {
  return agents.flatMap(({ id, tool }) => {
    const { dropped, partitioned, undeliverable } = books.of(id);
    if (dropped.packets + partitioned.packets + undeliverable.packets === 0) return [];
    return [
      {
        id,
        tool,
        dropped: dropped.packets,
        partitioned: partitioned.packets,
        undeliverable: undeliverable.packets,
      },
    ];
  });
}
