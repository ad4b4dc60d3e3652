import { MAX_PACKET_TYPES } from '../../contracts/limits.ts';
import type { JsonObject, JsonValue, PacketHead } from '../../contracts/packet.ts';

/** Ways in which a task can end. */
export const TASK_STATUSES = ['answered', 'timeout', 'failed'] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

/** Returns the worst status: several tasks count as answered only if there are any and all were answered. */
export function pickWorstStatus({
  answered,
  timeout,
  failed,
}: Readonly<Record<TaskStatus, number>>): TaskStatus {
  if (failed > 0 || answered + timeout === 0) return 'failed';
  return timeout > 0 ? 'timeout' : 'answered';
}

/** Counters of the mesh for one task. Bytes are whole frames; `bytes_tx` includes the initial broadcast. */
interface TaskCounts {
  bytes_tx: number;
  bytes_rx: number;
  pkt_cnt: number;
  token_sum: number;
  init_bytes: number;
}

export interface TaskOutcome {
  readonly taskId: string;
  readonly status: TaskStatus;
  readonly answer: string | null;
  /** Reason for the missing answer. */
  readonly reason?: string | undefined;
  /** Payload of the packet that ended it, with any comments of its agent beside the answer or the failure. */
  readonly final?: JsonObject | undefined;
  /** Milliseconds from the start of the broadcast to the final answer, or to the end without one; fractional. */
  readonly elapsedMs: number;
  readonly counts: TaskCounts;
}

/**
 * One task from its broadcast to its end, with its clock and its counters. Only the first ending counts
 * (MP-43). The clock is monotonic.
 */
export class TaskClock {
  readonly taskId: string;
  readonly counts: TaskCounts = { bytes_tx: 0, bytes_rx: 0, pkt_cnt: 0, token_sum: 0, init_bytes: 0 };
  readonly ended: Promise<void>;
  /** Packet types that were relayed; they decide whether the remaining agents can still produce an answer. */
  readonly seenTypes = new Set<string>();
  readonly #startMs: number;
  readonly #taskTokens: number;
  readonly #endsAfter: number;
  readonly #end: () => void;
  #ending: Pick<TaskOutcome, 'status' | 'answer' | 'reason' | 'final' | 'elapsedMs'> | undefined;

  /** `endsAfter`: number of packets that end the task, if no answer ends it. */
  constructor(
    taskId: string,
    nowMs: number,
    taskTokens = Number.POSITIVE_INFINITY,
    endsAfter = Number.POSITIVE_INFINITY,
  ) {
    this.taskId = taskId;
    this.#startMs = nowMs;
    this.#taskTokens = taskTokens;
    this.#endsAfter = endsAfter;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#end = resolve;
  }

  /** Counts a packet of the task that arrived and was sent to `copies` recipients. */
  count(head: PacketHead, frameBytes: number, copies: number, nowMs: number): void {
    this.counts.pkt_cnt += 1;
    this.counts.bytes_rx += frameBytes;
    this.counts.bytes_tx += frameBytes * copies;
    this.counts.token_sum += head.token_used;
    if (this.seenTypes.size < MAX_PACKET_TYPES) this.seenTypes.add(head.type);
    if (this.counts.token_sum > this.#taskTokens) {
      const reason = `it took ${this.counts.token_sum} tokens; ${this.#taskTokens} are allowed`;
      this.stop('failed', null, nowMs, { reason });
    }
    if (this.counts.pkt_cnt >= this.#endsAfter) this.stop('answered', null, nowMs);
  }

  stop(
    status: TaskStatus,
    answer: string | null,
    nowMs: number,
    { reason, final }: { readonly reason?: string; readonly final?: JsonObject | undefined } = {},
  ): void {
    if (this.#ending !== undefined) return;
    this.#ending = {
      status,
      answer,
      elapsedMs: nowMs - this.#startMs,
      reason,
      final,
    };
    this.#end();
  }

  /** Returns the outcome; valid once {@link ended} has settled. */
  outcome(): TaskOutcome {
    if (this.#ending === undefined) throw new Error(`task ${this.taskId} is still running`);
    return { taskId: this.taskId, ...this.#ending, counts: this.counts };
  }
}

/** Returns the text of a final answer, which is a string or a number in payload `{answer}`. */
export function answerText(answer: JsonValue | undefined): string | undefined {
  if (typeof answer === 'string') return answer;
  return typeof answer === 'number' ? String(answer) : undefined;
}
