import type { Codec } from '../../contracts/adapter.ts';
import { MeshError } from '../../contracts/errors.ts';
import { addLine, createLedgerLine, type LedgerLine, measureLine } from '../../contracts/ledger.ts';
import { DOC_INIT, HUB_ID, type JsonObject, type Packet, parsePacket } from '../../contracts/packet.ts';
import { readMonotonicUs } from '../../system/clock.ts';
import { onAbort } from '../../system/process/abort.ts';
import { encodeFrame } from '../../wire/frame.ts';
import type { ControlSender } from '../control-sender.ts';
import type { DeliveryStrategy } from '../delivery/delivery-strategy.ts';
import type { Link } from '../link.ts';
import type { MeshObserver } from '../mesh-observer.ts';
import { canReach } from './reachable.ts';
import { TaskClock, type TaskOutcome } from './task-clock.ts';

/** Failure reason of a task whose run the user interrupted. */
const INTERRUPTED = 'interrupted';

export interface TaskRequest {
  readonly taskId: string;
  readonly payload: JsonObject;
  /** A packet of an earlier run that opens the task unchanged, instead of one built from `payload`. */
  readonly opening?: Packet;
  readonly timeoutMs: number;
  /** Maximum tokens of its agents, above which the task fails; unlimited if undefined. */
  readonly taskTokens?: number | undefined;
  /** Number of relayed packets that end the task, if no answer ends it. */
  readonly endsAfter?: number | undefined;
}

interface OpenTasksOptions {
  readonly clocks: Map<string, TaskClock>;
  readonly codec: Codec;
  readonly control: ControlSender;
  readonly delivery: DeliveryStrategy;
  readonly observer: MeshObserver;
  readonly maxFrameBytes: number;
  /** Returns all links that receive a document now. */
  readonly destinations: () => readonly Link[];
}

/** The running tasks: each begins with the broadcast of its document, and ends once. */
export class OpenTasks {
  /** The hub's own packets, each counted once regardless of the number of copies. */
  readonly ownLine: LedgerLine = createLedgerLine();
  initBytes = 0;
  readonly #options: OpenTasksOptions;

  constructor(options: OpenTasksOptions) {
    this.#options = options;
  }

  /** Runs a task; it ends with its final answer, at its deadline, or by `signal`. */
  async run(task: TaskRequest, signal: AbortSignal, onBegun: () => void): Promise<TaskOutcome> {
    const { clocks } = this.#options;
    if (clocks.has(task.taskId)) {
      throw new MeshError(
        'usage',
        `task ${task.taskId} is already running: task ids must be unique within a run`,
      );
    }
    const clock = new TaskClock(task.taskId, performance.now(), task.taskTokens, task.endsAfter);
    clocks.set(task.taskId, clock);
    const unwatch = onAbort(signal, () =>
      clock.stop('failed', null, performance.now(), { reason: INTERRUPTED }),
    );
    const timer = setTimeout(() => {
      const reason = `no final answer within ${task.timeoutMs / 1000} s`;
      clock.stop('timeout', null, performance.now(), { reason });
    }, task.timeoutMs);
    try {
      if (!signal.aborted) await this.#broadcast(clock, task);
      if (task.endsAfter === 0) clock.stop('answered', null, performance.now());
      onBegun();
      await clock.ended;
    } finally {
      clearTimeout(timer);
      unwatch();
      clocks.delete(task.taskId);
    }
    return clock.outcome();
  }

  /**
   * Ends the tasks that node `final` can no longer answer: waiting for their deadline would only hide the
   * cause.
   */
  endHopeless(
    final: string | null,
    alive: readonly Link[],
    returning: readonly Link[],
    lost: readonly Link[],
  ): void {
    const dead = lost.map(({ node }) => `${node.id} (${node.tool})`);
    const reason = `agent ${dead.join(', ')} is gone, so no answer can come`;
    for (const clock of this.#options.clocks.values()) {
      if (final !== null && canReach(final, clock.seenTypes, alive, returning)) continue;
      clock.stop('failed', null, performance.now(), { reason });
    }
  }

  async #broadcast(clock: TaskClock, { payload, opening }: TaskRequest): Promise<void> {
    const { codec, control, delivery, observer, maxFrameBytes, destinations } = this.#options;
    const beganUs = readMonotonicUs();
    const packet = parsePacket(opening ?? control.packet(DOC_INIT, clock.taskId, payload));
    const blob = codec.encode(packet);
    const encodeUs = readMonotonicUs() - beganUs;
    if (blob.length > maxFrameBytes) {
      // Sending it would cost every agent its connection.
      const reason = `the document takes ${blob.length} bytes as a packet; a frame has at most ${maxFrameBytes} (limits.max_frame_bytes of the team file)`;
      clock.stop('failed', null, performance.now(), { reason });
      return;
    }
    const frame = encodeFrame(blob);
    const links = destinations();
    const forwardedUs = readMonotonicUs();
    for (const link of links) delivery.carry({ from: HUB_ID, head: packet, frame }, link);
    const bytes = frame.length * links.length;
    this.initBytes += bytes;
    clock.counts.init_bytes += bytes;
    clock.counts.bytes_tx += bytes;
    clock.seenTypes.add(DOC_INIT);
    addLine(this.ownLine, measureLine(codec, packet, blob.length, codec.layerBytes?.last));
    observer.broadcast(packet, { beganUs, encodeUs, forwardedUs }, frame.length, links.length);
    await Promise.all(links.map((link) => Promise.race([link.socket.drained(), clock.ended])));
  }
}
