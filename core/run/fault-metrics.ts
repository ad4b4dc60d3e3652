import type { DeliveryBook, FaultBooks } from '../hub/faults/fault-books.ts';
import type { TimedFaultRecord } from '../hub/faults/fault-schedule.ts';
import type { Recovery } from './agent-recovery.ts';
import type { TaskResult } from './task-result.ts';

/** Tasks and how they went; `right` is null where no truth is known. */
export interface Answers {
  tasks: number;
  answered: number;
  right: number | null;
}

/** `faults` of `metrics.json`: there when faults, or restarts, were asked for. */
export interface FaultMetrics {
  /** As the user wrote it; null where only restarts were asked for. */
  readonly spec: string | null;
  readonly seed: number | null;
  readonly restart: 'never' | 'on-failure';
  /** Faults that were injected, by kind. */
  readonly injected: Readonly<Record<FaultKind, number>>;
  /** Deliveries by what became of them, whole frames. */
  readonly deliveries: DeliveryBook;
  /** Faults with a time of their own: when they were, if the run lasted that long. */
  readonly timed: readonly TimedFaultRecord[];
  /** Packets that agents did not get. */
  readonly lost: readonly AgentLosses[];
  readonly recoveries: readonly Recovery[];
  readonly answers: Answers;
  /** Those of them of which a delivery was lost or corrupted. */
  readonly harmed: Answers;
}

type FaultKind = 'drop' | 'delay' | 'dup' | 'corrupt' | TimedFaultRecord['kind'];

interface AgentLosses {
  readonly id: string;
  readonly tool: string;
  readonly dropped: number;
  readonly partitioned: number;
  readonly undeliverable: number;
}

export function noAnswers(): Answers {
  return { tasks: 0, answered: 0, right: null };
}

export function addAnswer(answers: Answers, { status, normalized_em }: TaskResult): void {
  answers.tasks += 1;
  if (status === 'answered') answers.answered += 1;
  if (normalized_em !== null) answers.right = (answers.right ?? 0) + normalized_em;
}

/** Counts what was injected; duplicates are counted when they are written. */
export function injectedOf(
  { total }: FaultBooks,
  timed: readonly TimedFaultRecord[],
): FaultMetrics['injected'] {
  const happened = (kind: TimedFaultRecord['kind']) =>
    timed.filter((record) => record.kind === kind && record.at_ms !== null).length;
  return {
    drop: total.dropped.packets,
    delay: total.delayed.packets,
    dup: total.duplicated.packets,
    corrupt: total.corrupted.packets,
    kill: happened('kill'),
    stall: happened('stall'),
    partition: happened('partition'),
  };
}

/** Agents that lost nothing are left out. */
export function lossesOf(
  books: FaultBooks,
  agents: readonly { readonly id: string; readonly tool: string }[],
): AgentLosses[] {
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
