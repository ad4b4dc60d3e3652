import { type AlikePackets, type Codec, readHead } from '../adapter.ts';
import { BACK_TYPE, booksSchema, LOST_TYPE, SETTLE_TYPE, STOP_TYPE } from '../books.ts';
import { monotonicUs } from '../clock.ts';
import { ACK_TYPE, receiptIn } from '../delivery.ts';
import { MeshError, messageOf } from '../errors.ts';
import { type FrameRun, frameOf, PREFIX_BYTES, type RunUse } from '../frame.ts';
import { addLine, emptyLine, lineOf } from '../ledger.ts';
import { SETTLE_TIMEOUT_MS } from '../limits.ts';
import {
  FINAL_ANSWER,
  HUB_ID,
  issuesOf,
  type JsonObject,
  MESH_TYPE_PREFIX,
  type Packet,
  type PacketHead,
  parsePacket,
  TASK_FAILED,
} from '../packet.ts';
import { Backpressure } from './backpressure.ts';
import { CallRights } from './call-rights.ts';
import { AcknowledgedDelivery } from './delivery/acknowledged-delivery.ts';
import type { Letter } from './delivery/mailbox.ts';
import { type DialOptions, dialAgain, dialAgents } from './dial.ts';
import { FaultyDelivery, type FaultyDeliveryOptions } from './faults/faulty-delivery.ts';
import type { Link, MeshNode } from './link.ts';
import { canReach } from './reachable.ts';
import { Relay, type RelayTimes } from './relay.ts';
import type { Router } from './routing.ts';
import { answerText, TaskClock, type TaskOutcome } from './task-clock.ts';

/** Packet type of the document that opens a task (MP-21). */
export const DOC_INIT = 'doc_init';

/** Monotonic microseconds; see `core/clock.ts`. */
export interface RelayedPacket {
  readonly head: PacketHead;
  readonly tool: string;
  readonly frameBytes: number;
  readonly recipients: number;
  readonly arrivedUs: number;
  readonly forwardedUs: number;
}

export interface BroadcastTimes {
  readonly beganUs: number;
  readonly encodeUs: number;
  readonly forwardedUs: number;
}

/** What the mesh tells whoever watches. Calls are made between the packets: they must be quick. */
export interface MeshObserver {
  /** A packet was relayed; called when it has been. */
  packet?(relayed: RelayedPacket): void;
  broadcast?(packet: Packet, times: BroadcastTimes, frameBytes: number, recipients: number): void;
  refused?(node: string, reason: string, frameBytes: number): void;
  agentLost?(node: MeshNode, reason: string): void;
}

export interface MeshNetworkOptions extends Omit<DialOptions, 'delivery'> {
  /** The only node that may tag a final answer; null where there are no tasks, and a tag is the agents' own business. */
  readonly final: string | null;
  readonly router: Router;
  readonly observer: MeshObserver;
  /** A destination that takes nothing for so long, with a full queue, is cut off. */
  readonly stallTimeoutMs?: number;
  /** Only for runs with faults: deliveries are not made straight then. */
  readonly faults?: FaultyDeliveryOptions;
  /** Whether a lost agent is being started again, to be readmitted. */
  readonly isReturning?: (id: string) => boolean;
  /** Packets are kept until they are acknowledged; see `core/delivery.ts`. */
  readonly acknowledges?: boolean;
}

/** Counters of packets by type, as the hub sees them. */
export interface TypeCounts {
  packets: number;
  bytes_rx: number;
  bytes_tx: number;
  tokens: number;
}

export interface TaskRequest {
  readonly taskId: string;
  readonly payload: JsonObject;
  /** A packet of an earlier run to open the task with, exactly as it was, instead of one made of `payload`. */
  readonly opening?: Packet;
  readonly timeoutMs: number;
  /** The task fails when its agents have used more; without it there is no bound. */
  readonly maxTokens?: number;
}

/**
 * The hub: the centre of the star. It dials the agents, broadcasts each task's document, and sends every packet that
 * comes from one agent to the others, byte for byte as it came. It counts and keeps the clocks; what packets say is not its
 * business (MP-13).
 */
export class MeshNetwork {
  /** One link an agent, the one it has now. */
  readonly links: readonly Link[];
  /** Lost links of agents that were readmitted. */
  readonly formerLinks: Link[] = [];
  /** Only in runs with faults. */
  readonly faults: FaultyDelivery | undefined;
  /** Only where deliveries are acknowledged. */
  readonly delivery: AcknowledgedDelivery | undefined;
  readonly typeCounts = new Map<string, TypeCounts>();
  /** What the hub itself sent: one line a packet, whatever the number of its copies. */
  readonly ownLine = emptyLine();
  initBytes = 0;
  readonly #options: MeshNetworkOptions;
  /** What {@link links} shows. */
  readonly #links: Link[];
  readonly #codec: Codec;
  readonly #tasks = new Map<string, TaskClock>();
  readonly #rights = new CallRights();
  readonly #backpressure: Backpressure;
  readonly #relay: Relay;
  /** Packets of the run of frames that is being relayed. */
  readonly #relayed: Omit<RelayedPacket, 'arrivedUs' | 'forwardedUs'>[] = [];
  /** Whether anybody wants to know what was relayed. */
  readonly #keepsRelayed: boolean;
  #packetNumber = 0;
  #settled: (() => void) | undefined;

  private constructor(options: MeshNetworkOptions, links: Link[], codec: Codec) {
    this.#options = options;
    if (options.acknowledges === true) {
      this.delivery = new AcknowledgedDelivery({
        write: (letter, link) => this.#write(letter, link),
        tellTaken: (link, taken) => this.#tellTaken(link, taken),
        isLossy: isLossy(options),
      });
    }
    this.#links = links;
    this.links = links;
    this.#codec = codec;
    this.#backpressure = new Backpressure(links, options.stallTimeoutMs);
    if (options.faults !== undefined) {
      this.faults = new FaultyDelivery(options.faults, (link) => this.#backpressure.check(link));
    }
    this.#keepsRelayed =
      options.observer.packet !== undefined || options.faults !== undefined || options.acknowledges === true;
    const judge = {
      judge: (sender: Link, blob: Buffer, nowMs: number) => this.#judge(sender, blob, nowMs),
      judgeAlike: (sender: Link, alike: AlikePackets, bytes: number) =>
        this.#judgeAlike(sender, alike, bytes),
    };
    this.#relay = new Relay(judge, this.#backpressure, !this.#keepsRelayed);
    this.#tellRouter();
    for (const link of links) this.#listen(link);
  }

  /** Connects to every agent; throws as {@link dialAgents} does. */
  static async connect(options: MeshNetworkOptions): Promise<MeshNetwork> {
    const { links, codec } = await dialAgents(dialOptions(options, () => null));
    return new MeshNetwork(options, links, codec);
  }

  /**
   * Broadcasts a task's document to all agents and waits for its end: the final answer, the deadline, or `signal`.
   * Several tasks may run at the same time.
   */
  async runTask(task: TaskRequest, signal: AbortSignal): Promise<TaskOutcome> {
    if (this.#tasks.has(task.taskId)) {
      throw new MeshError(
        'usage',
        `task ${task.taskId} is already running: task ids must be unique within a run`,
      );
    }
    const clock = new TaskClock(task.taskId, performance.now(), task.maxTokens);
    this.#tasks.set(task.taskId, clock);
    const onAbort = () => clock.stop('failed', null, performance.now(), { reason: 'interrupted' });
    signal.addEventListener('abort', onAbort);
    const timer = setTimeout(() => {
      const reason = `no final answer within ${task.timeoutMs / 1000} s`;
      clock.stop('timeout', null, performance.now(), { reason });
    }, task.timeoutMs);
    try {
      if (signal.aborted) onAbort();
      else await this.#broadcast(clock, task);
      this.endHopeless();
      await clock.ended;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      this.#tasks.delete(task.taskId);
    }
    const outcome = clock.outcome();
    // Whoever still works on it works for nothing, and may hold what other tasks wait for.
    if (outcome.status !== 'answered') this.#tellAgents(STOP_TYPE, task.taskId, {});
    return outcome;
  }

  /** Asks every agent for its books and waits until they are in, or the time is up. Call it once, after the last task. */
  async settle(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.delivery?.end();
    this.#settled = resolve;
    this.#tellAgents(SETTLE_TYPE, 'mesh', {});
    this.#checkSettled();
    const timer = setTimeout(resolve, SETTLE_TIMEOUT_MS);
    await promise;
    clearTimeout(timer);
  }

  /**
   * Takes a lost agent back that was started again: it hears the packets from now on.
   *
   * @throws MeshError `agent` when it cannot be dialled, or the run is ending
   */
  async readmit(node: MeshNode): Promise<void> {
    const have = (id: string) => this.delivery?.lastOf(id) ?? null;
    const link = await dialAgain(node, dialOptions(this.#options, have));
    const index = this.#links.findIndex((other) => other.node.id === node.id && !other.alive);
    const former = this.#links[index];
    if (former === undefined || this.#settled !== undefined) {
      link.socket.destroy();
      throw new MeshError('agent', `agent ${node.id} (${node.tool}) is not missed any more`);
    }
    this.formerLinks.push(former);
    this.#links[index] = link;
    this.#listen(link);
    this.#tellRouter();
    this.#tellAgents(BACK_TYPE, 'mesh', { id: node.id });
  }

  close(): void {
    this.#relay.flush();
    this.delivery?.end();
    for (const link of this.links) {
      link.alive = false;
      link.socket.destroy();
    }
  }

  #listen(link: Link): void {
    const { faults, delivery } = this;
    let relay = (run: FrameRun) => this.#relayRun(link, run);
    if (delivery !== undefined) relay = (run) => this.#relayKept(delivery, link, run);
    else if (faults !== undefined) relay = (run) => this.#relayThrough(faults, link, run);
    link.socket.start(this.#options.maxFrameBytes, relay);
    void link.socket.closed.then((fault) => this.#lost(link, fault));
    faults?.outages.admit(link);
    delivery?.admit(link, link.done);
  }

  #tellRouter(): void {
    this.#options.router.membersChanged(this.#destinations);
  }

  /** Faults keep the lost ones, too: what they miss is counted. So do mailboxes, for those who come back. */
  get #destinations(): Link[] {
    return this.links.filter((link) => link.alive || this.faults !== undefined || this.#isAwaited(link));
  }

  /** Whether what a lost agent misses is kept for it. */
  #isAwaited({ node }: Link): boolean {
    return this.delivery !== undefined && this.#options.isReturning?.(node.id) === true;
  }

  /** A word of the mesh's own to the agents that know what it means. */
  #tellAgents(type: string, taskId: string, payload: JsonObject): void {
    // Whoever has heard that it is to hand in its books counts nothing any more; and what came first goes first.
    this.#relay.flush();
    for (const link of this.links) {
      if (!link.alive || !link.keepsBooks) continue;
      link.counts.sessionTx += link.socket.sendBlob(this.#codec.encode(this.#packet(type, taskId, payload)));
    }
  }

  #packet(type: string, taskId: string, payload: JsonObject): Packet {
    this.#packetNumber += 1;
    return {
      type,
      from: HUB_ID,
      id: `${HUB_ID}-${this.#packetNumber}`,
      task_id: taskId,
      token_used: 0,
      ts: Date.now(),
      payload,
    };
  }

  async #broadcast(clock: TaskClock, { payload, opening }: TaskRequest): Promise<void> {
    const beganUs = monotonicUs();
    const packet = parsePacket(opening ?? this.#packet(DOC_INIT, clock.taskId, payload));
    const blob = this.#codec.encode(packet);
    const encodeUs = monotonicUs() - beganUs;
    const { maxFrameBytes } = this.#options;
    if (blob.length > maxFrameBytes) {
      // Sent, it would cost every agent its connection.
      const reason = `the document takes ${blob.length} bytes as a packet; a frame has at most ${maxFrameBytes} (limits.max_frame_bytes of the team file)`;
      clock.stop('failed', null, performance.now(), { reason });
      return;
    }
    const frame = frameOf(blob);
    const { faults, delivery } = this;
    const links = this.#destinations;
    const forwardedUs = monotonicUs();
    for (const link of links) {
      if (delivery !== undefined) delivery.deliver({ from: HUB_ID, frame, head: packet }, link);
      else if (faults === undefined) link.deliver(frame, 1);
      else faults.deliver(HUB_ID, link, frame, packet);
    }
    const bytes = frame.length * links.length;
    this.initBytes += bytes;
    clock.counts.init_bytes += bytes;
    clock.counts.bytes_tx += bytes;
    clock.seenTypes.add(DOC_INIT);
    addLine(this.ownLine, lineOf(this.#codec, packet, blob.length, this.#codec.layerBytes?.last));
    this.#options.observer.broadcast?.(
      packet,
      { beganUs, encodeUs, forwardedUs },
      frame.length,
      links.length,
    );
    await Promise.all(
      links.map((link) => {
        this.#backpressure.check(link);
        return Promise.race([link.socket.drained(), clock.ended]);
      }),
    );
  }

  #relayRun(sender: Link, run: FrameRun): RunUse {
    this.#tellRelayed(this.#relay.relay(sender, run));
    return 'done';
  }

  /** Packet by packet, each delivery with the faults that were asked for. */
  #relayThrough(faults: FaultyDelivery, sender: Link, run: FrameRun): RunUse {
    const nowMs = performance.now();
    const arrivedUs = monotonicUs();
    let use: RunUse = 'done';
    let start = 0;
    for (const end of run.ends) {
      const recipients = this.#judge(sender, run.bytes.subarray(start + PREFIX_BYTES, end), nowMs);
      const frame = run.bytes.subarray(start, end);
      const packet = this.#relayed.at(-1)?.head;
      const forwardedUs = monotonicUs();
      for (const link of recipients) {
        if (faults.deliver(sender.node.id, link, frame, packet) === 'kept') {
          use = 'kept';
          this.#backpressure.check(link);
        }
      }
      this.#tellRelayed({ arrivedUs, forwardedUs });
      start = end;
    }
    return use;
  }

  /** Packet by packet, each kept for every destination until that is done with it. */
  #relayKept(delivery: AcknowledgedDelivery, sender: Link, run: FrameRun): RunUse {
    const nowMs = performance.now();
    const arrivedUs = monotonicUs();
    let start = 0;
    for (const end of run.ends) {
      const recipients = this.#judge(sender, run.bytes.subarray(start + PREFIX_BYTES, end), nowMs);
      const head = this.#relayed.at(-1)?.head;
      const forwardedUs = monotonicUs();
      if (recipients.length > 0 && head !== undefined) {
        // The relay's bytes are written over when it is done with them; one copy is kept for all.
        const frame = Buffer.from(run.bytes.subarray(start, end));
        for (const link of recipients) delivery.deliver({ from: sender.node.id, frame, head }, link);
      }
      this.#tellRelayed({ arrivedUs, forwardedUs });
      start = end;
    }
    return 'done';
  }

  #write({ from, frame, head }: Letter, link: Link): void {
    if (this.faults === undefined) link.deliver(frame, 1);
    else this.faults.deliver(from, link, frame, head);
    this.#backpressure.check(link);
  }

  #tellTaken(link: Link, taken: number): void {
    if (!link.alive) return;
    // Nobody refers to it, so it needs no number: documents have the same ids with and without it.
    const envelope = {
      type: ACK_TYPE,
      from: HUB_ID,
      id: 'ack',
      task_id: 'mesh',
      token_used: 0,
      ts: Date.now(),
    };
    link.counts.ackTx += link.socket.sendBlob(this.#codec.encode({ ...envelope, payload: { taken } }));
  }

  /** Whoever watches is told when the packets are on their way. */
  #tellRelayed(times: RelayTimes): void {
    if (this.#relayed.length === 0) return;
    for (const packet of this.#relayed.splice(0)) {
      this.#options.observer.packet?.({ ...packet, ...times });
    }
  }

  /** Checks and counts one packet and says who gets it. */
  #judge(sender: Link, blob: Buffer, nowMs: number): readonly Link[] {
    const frameBytes = PREFIX_BYTES + blob.length;
    let head: PacketHead;
    let payload: JsonObject | undefined;
    try {
      const seen = readHead(sender.codec, blob);
      head = seen.head;
      if (head.from !== sender.node.id && sender.node.isForeign !== true)
        throw new MeshError('packet', `packet says it is from ${head.from}`);
      if (!head.type.startsWith(MESH_TYPE_PREFIX) && this.delivery?.isRepeated(sender, head.id) === true) {
        sender.counts.repeatedPackets += 1;
        sender.counts.repeatedBytes += frameBytes;
        this.delivery.took(sender);
        return [];
      }
      const endsTask =
        this.#options.final !== null && (head.tag === FINAL_ANSWER || head.tag === TASK_FAILED);
      if (endsTask || head.type.startsWith(MESH_TYPE_PREFIX)) {
        payload = (seen.packet ?? sender.codec.decode(blob)).payload;
      }
      this.#checkRights(sender, head, payload);
    } catch (error) {
      return this.#refuse(sender, messageOf(error), frameBytes);
    }
    const { counts } = sender;
    if (head.type.startsWith(MESH_TYPE_PREFIX)) {
      this.#hearMesh(sender, head.type, payload, frameBytes);
      return [];
    }
    this.delivery?.took(sender);
    // Once the books are being closed nothing is sent on: it would be missing in the books of those who are done.
    const recipients = this.#settled === undefined ? this.#options.router.recipients(head, sender) : [];
    counts.packetsRx += 1;
    counts.bytesRx += frameBytes;
    counts.tokens += head.token_used;
    this.#countType(head, 1, head.token_used, frameBytes, recipients.length);
    const clock = this.#tasks.get(head.task_id);
    clock?.count(head, frameBytes, recipients.length, nowMs);
    if (head.tag === FINAL_ANSWER) {
      clock?.stop('answered', answerText(payload?.answer) ?? null, nowMs, { final: payload });
    }
    if (head.tag === TASK_FAILED) {
      const reason = `${sender.node.tool}: ${String(payload?.message)}`;
      clock?.stop('failed', null, nowMs, { reason, final: payload });
    }
    if (this.#keepsRelayed) {
      this.#relayed.push({ head, tool: sender.node.tool, frameBytes, recipients: recipients.length });
    }
    return recipients;
  }

  /**
   * The same for packets with one head. What somebody wants to know of each packet, and whatever takes more than adding numbers, is
   * for {@link MeshNetwork.#judge}.
   */
  #judgeAlike(
    sender: Link,
    { head, packets, tokens }: AlikePackets,
    bytes: number,
  ): readonly Link[] | undefined {
    const { isForeign, id } = sender.node;
    if (this.#keepsRelayed || this.#settled !== undefined || this.#tasks.has(head.task_id)) return undefined;
    if ((head.from !== id || head.to !== undefined) && isForeign !== true) return undefined;
    const endsTask = this.#options.final !== null && (head.tag === FINAL_ANSWER || head.tag === TASK_FAILED);
    if (endsTask || head.type.startsWith(MESH_TYPE_PREFIX)) return undefined;
    const recipients = this.#options.router.recipients(head, sender);
    const { counts } = sender;
    counts.packetsRx += packets;
    counts.bytesRx += bytes;
    counts.tokens += tokens;
    this.#countType(head, packets, tokens, bytes, recipients.length);
    return recipients;
  }

  #checkRights(sender: Link, head: PacketHead, payload: JsonObject | undefined): void {
    const { node } = sender;
    this.#rights.check(node, head);
    if (head.tag !== FINAL_ANSWER || this.#options.final === null) return;
    if (node.id !== this.#options.final) {
      throw new MeshError('packet', `${node.id} tagged a final answer; only ${this.#options.final} may`);
    }
    if (answerText(payload?.answer) === undefined) {
      throw new MeshError('packet', 'a final answer needs payload {answer} with a text or a number');
    }
  }

  #refuse(sender: Link, reason: string, frameBytes: number): readonly Link[] {
    sender.counts.refusedPackets += 1;
    sender.counts.refusedBytes += frameBytes;
    this.delivery?.took(sender);
    this.#options.observer.refused?.(sender.node.id, reason, frameBytes);
    return [];
  }

  #countType({ type }: PacketHead, packets: number, tokens: number, bytes: number, copies: number): void {
    let counts = this.typeCounts.get(type);
    if (counts === undefined) {
      counts = { packets: 0, bytes_rx: 0, bytes_tx: 0, tokens: 0 };
      this.typeCounts.set(type, counts);
    }
    counts.packets += packets;
    counts.bytes_rx += bytes;
    counts.bytes_tx += bytes * copies;
    counts.tokens += tokens;
  }

  /** The mesh's own packets, which are not relayed. */
  #hearMesh(sender: Link, type: string, payload: JsonObject | undefined, frameBytes: number): void {
    if (type === ACK_TYPE && this.delivery !== undefined) {
      sender.counts.ackRx += frameBytes;
      const receipt = receiptIn(payload);
      if (receipt !== undefined) this.delivery.hear(sender, receipt);
      return;
    }
    sender.counts.sessionRx += frameBytes;
    this.#takeBooks(sender, payload);
  }

  #takeBooks(link: Link, payload: JsonObject | undefined): void {
    const result = booksSchema.safeParse(payload);
    if (result.success) link.books = result.data;
    else
      this.#options.observer.refused?.(
        link.node.id,
        `its books cannot be read: ${issuesOf(result.error)}`,
        0,
      );
    this.#checkSettled();
  }

  #checkSettled(): void {
    const isOpen = (link: Link) => link.alive && link.keepsBooks && link.books === undefined;
    if (!this.links.some(isOpen)) this.#settled?.();
  }

  #lost(link: Link, fault: MeshError | undefined): void {
    if (!link.alive) return;
    link.alive = false;
    link.fault = fault;
    this.delivery?.lost(link);
    this.#options.observer.agentLost?.(link.node, fault?.message ?? 'closed its connection');
    this.#tellRouter();
    // Who waits for its reply gets that when it is back.
    if (!this.#isAwaited(link)) this.#tellLost(link);
    this.endHopeless();
    this.#checkSettled();
  }

  #tellLost(link: Link): void {
    this.delivery?.abandon(link);
    if (this.#settled === undefined) this.#tellAgents(LOST_TYPE, 'mesh', { id: link.node.id });
  }

  /** An agent that was awaited does not come back after all. */
  giveUp(id: string): void {
    const link = this.links.find(({ node, alive }) => node.id === id && !alive);
    if (link !== undefined && this.delivery !== undefined) {
      this.#tellRouter();
      this.#tellLost(link);
    }
    this.endHopeless();
  }

  /** Ends the tasks that nobody is left to answer: waiting for their deadline would only hide what happened. */
  endHopeless(): void {
    const { final, isReturning = () => false } = this.#options;
    const alive = this.links.filter((link) => link.alive);
    if (alive.length === this.links.length) return;
    const lost = this.links.filter((link) => !link.alive);
    const returning = lost.filter((link) => isReturning(link.node.id));
    // Nothing is missed where what was relayed is kept.
    if (this.delivery !== undefined) alive.push(...returning.splice(0));
    const dead = lost.map((link) => `${link.node.id} (${link.node.tool})`);
    for (const clock of this.#tasks.values()) {
      if (final !== null && canReach(final, clock.seenTypes, alive, returning)) continue;
      const reason = `agent ${dead.join(', ')} is gone, so no answer can come`;
      clock.stop('failed', null, performance.now(), { reason });
    }
  }
}

/** Whether deliveries get lost on living connections. */
function isLossy({ faults }: MeshNetworkOptions): boolean {
  return faults !== undefined && faults.faults.length > 0;
}

function dialOptions(options: MeshNetworkOptions, lastOf: (id: string) => string | null): DialOptions {
  if (options.acknowledges !== true) return options;
  const lossy = isLossy(options) ? { lossy: true as const } : {};
  return { ...options, delivery: (id) => ({ mode: 'acknowledged', have: lastOf(id), ...lossy }) };
}
