import * as z from 'zod';
import { type Codec, readHead, readPacket } from '../contracts/adapter.ts';
import { MeshError, toErrorMessage } from '../contracts/errors.ts';
import { AGENT_LIMITS, DELIVERY_LIMITS } from '../contracts/limits.ts';
import {
  type JsonObject,
  MESH_TYPE_PREFIX,
  MESH_TYPES,
  type Packet,
  type PacketHead,
  TASK_FAILED,
} from '../contracts/packet.ts';
import { type AskOptions, callType, type Emission, type ToolContext } from '../contracts/tool.ts';
import { toUsage } from '../contracts/usage.ts';
import { recordWarning } from '../contracts/warning.ts';
import { formatTraceparent } from '../recording/trace-context.ts';
import { readMonotonicUs } from '../system/clock.ts';
import { Sampled } from '../system/sampled.ts';
import { type FrameRun, PREFIX_BYTES } from '../wire/frame.ts';
import type { FrameLink } from '../wire/frame-link.ts';
import { AgentLedger } from '../wire/ledger-report.ts';
import type { Outbox } from './outbox.ts';
import { type Received, Requests } from './requests.ts';
import type { AgentOptions, SessionTerms } from './session-options.ts';
import { resolveTaskFolder } from './task-files.ts';
import { PacketSender, type Sendable, Work } from './work.ts';

/** The hub's count of the packets of this connection that it has taken over. */
const takenSchema = z.object({ taken: z.int().nonnegative() });

/**
 * Reports to the hub on delivered packets: finished, or in progress. Reports are batched, since each costs an
 * envelope.
 */
class Receipts {
  readonly #send: (payload: JsonObject) => void;
  readonly #sendsProgress: boolean;
  #done: string[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** Packets in progress that have not been reported. */
  readonly #untold = new Set<string>();
  #progressTimer: NodeJS.Timeout | undefined;

  /** `tellsProgress`: the hub expects reports of packets in progress and treats the others as lost. */
  constructor(send: (payload: JsonObject) => void, tellsProgress: boolean) {
    this.#send = send;
    this.#sendsProgress = tellsProgress;
  }

  /** Notes that work for a packet begins. */
  begun(id: string): void {
    if (!this.#sendsProgress) return;
    this.#untold.add(id);
    this.#progressTimer ??= setTimeout(() => {
      this.#progressTimer = undefined;
      const ids = [...this.#untold];
      this.#untold.clear();
      for (let from = 0; from < ids.length; from += DELIVERY_LIMITS.ackIds)
        this.#send({ in_progress: ids.slice(from, from + DELIVERY_LIMITS.ackIds) });
    }, DELIVERY_LIMITS.inProgressMs);
  }

  done(id: string): void {
    this.#untold.delete(id);
    this.#done.push(id);
    if (this.#done.length >= DELIVERY_LIMITS.ackIds) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), DELIVERY_LIMITS.ackDelayMs);
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#done.length === 0) return;
    this.#send({ done: this.#done });
    this.#done = [];
  }

  /** Stops all further reports. */
  end(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#progressTimer);
    this.#done = [];
    this.#untold.clear();
  }
}

/**
 * An agent's side of one run: it receives packets, works on those meant for its tool, each in its own
 * asynchronous task (MP-53), and sends the results. Reading continues meanwhile.
 */
export class AgentSession {
  readonly #options: AgentOptions;
  readonly #socket: FrameLink;
  readonly #codec: Codec;
  readonly #runId: string;
  readonly #ledger = new AgentLedger();
  readonly #sender: PacketSender;
  readonly #requests = new Requests();
  readonly #works = new Set<Work>();
  readonly #ended = new AbortController();
  readonly #outbox: Outbox | undefined;
  readonly #refusals = new Sampled();
  readonly #receipts: Receipts | undefined;
  /** True after the hub's first acknowledgement, which makes the agent send the outbox's packets again. */
  #isResumed = false;

  constructor(options: AgentOptions, socket: FrameLink, terms: SessionTerms) {
    const { codec, runId, acknowledged } = terms;
    this.#options = options;
    this.#runId = runId;
    this.#socket = socket;
    this.#codec = codec;
    this.#outbox = acknowledged?.outbox;
    this.#sender = new PacketSender(options, terms, socket, this.#ledger);
    if (acknowledged === undefined) return;
    this.#receipts = new Receipts((payload) => this.#sender.acknowledge(payload), acknowledged.isLossy);
  }

  /** Receives one run of frames; pass it to the socket's `start`. */
  receive(run: FrameRun): void {
    const receivedUs = readMonotonicUs();
    // Decoders may hand out views of these bytes, and the work for a packet outlives the run.
    for (const blob of run.copies()) this.#receiveBlob(blob, receivedUs);
  }

  /** Stops the work in progress: its results are no longer sent. */
  end(): void {
    this.#receipts?.end();
    this.#ended.abort();
  }

  #receiveBlob(blob: Buffer, receivedUs: number): void {
    const { log, memory } = this.#options.workspace;
    const bytes = PREFIX_BYTES + blob.length;
    const beginUs = readMonotonicUs();
    let head: PacketHead;
    let packet: Packet | undefined;
    try {
      head = readHead(this.#codec, blob);
      // Most packets of a broadcast are for others: their heads are enough.
      if (this.#isForUs(head)) packet = readPacket(this.#codec, head, blob);
    } catch (error) {
      this.#ledger.refused(bytes);
      const leftOut = this.#refusals.next();
      if (leftOut !== undefined)
        log.warn({ dir: 'received', refused: toErrorMessage(error), bytes, left_out: leftOut });
      return;
    }
    if (packet?.type.startsWith(MESH_TYPE_PREFIX)) {
      this.#receiveHub(packet);
      return;
    }
    const decodeUs = readMonotonicUs() - beginUs;
    this.#ledger.received(bytes, decodeUs);
    memory.packets_received += 1;
    const { type, from, to, id, task_id, tag, token_used } = head;
    log.info({ dir: 'received', bytes, type, from, to, id, task_id, tag, token_used });
    if (packet !== undefined && this.#take({ packet, receivedUs, decodeUs })) return;
    // The packet needs no work, or the work was done before.
    this.#receipts?.done(id);
  }

  /** Begins the work for a packet. Returns false if it needs none or was done before. */
  #take(received: Received): boolean {
    const { id, type } = received.packet;
    if (this.#requests.settle(received)) return false;
    if (!this.#options.subscribes.includes(type) || this.#outbox?.isDone(id) === true) return false;
    const isRepeated = this.#outbox !== undefined && [...this.#works].some((work) => work.begins.id === id);
    if (isRepeated) this.#receipts?.begun(id);
    else void this.#process(received);
    return true;
  }

  #isForUs({ type, to }: PacketHead): boolean {
    const { id, subscribes } = this.#options;
    if (to !== undefined && to !== id) return false;
    if (subscribes.includes(type) || type.startsWith(MESH_TYPE_PREFIX)) return true;
    // The packet may be a reply: only the whole packet says to what.
    return to !== undefined && this.#requests.isWaiting;
  }

  /** Handles packets of the mesh itself, which only the hub can send to an agent. */
  #receiveHub(packet: Packet): void {
    const { id } = packet.payload;
    switch (packet.type) {
      case MESH_TYPES.settle:
        // The ledger is closed before it is handed in: nothing is sent after it.
        this.#receipts?.flush();
        this.end();
        this.#sender.sendControl({ type: MESH_TYPES.ledger, payload: this.#ledger.toPayload() }, packet);
        break;
      case MESH_TYPES.ack:
        this.#receiveTaken(takenSchema.safeParse(packet.payload).data?.taken);
        break;
      case MESH_TYPES.lost:
        if (typeof id === 'string') this.#requests.partnerLost(id);
        break;
      case MESH_TYPES.back:
        if (typeof id === 'string') this.#requests.partnerBack(id);
        break;
      case MESH_TYPES.stop:
        for (const work of this.#works) if (work.cause.packet.task_id === packet.task_id) work.stop();
        break;
    }
  }

  async #process(received: Received): Promise<void> {
    const { tool, engine, workspace } = this.#options;
    const { task_id: taskId } = received.packet;
    const work = new Work(received, engine, this.#ended.signal, {
      usage: (usage, role = tool.name) => workspace.noteUsage(taskId, toUsage(role, usage)),
      exchange: (exchange, role = tool.name) =>
        workspace.noteExchange({ taskId, role, packetType: received.packet.type }, exchange),
      warning: (warning) => recordWarning(workspace, taskId, warning),
    });
    this.#works.add(work);
    this.#receipts?.begun(received.packet.id);
    // Acknowledgements must be read; in return the hub sends no more packets than the agent can work on.
    const isBounded = this.#outbox !== undefined;
    if (!isBounded && this.#works.size === AGENT_LIMITS.packets) this.#socket.pause();
    let emissions: readonly Emission[];
    try {
      emissions = await tool.run(received.packet, this.#context(work));
    } catch (error) {
      emissions = [this.#failure(error, received.packet)];
    }
    // All waiting works are woken together, and the first one may take the room: check again.
    while (this.#outbox?.isFull === true && !work.signal.aborted) await this.#outbox.change(work.signal);
    this.#finish(work.signal.aborted ? [] : emissions, work);
    await this.#socket.drained();
    this.#works.delete(work);
    if (!isBounded && this.#works.size === AGENT_LIMITS.packets - 1) this.#socket.resume();
  }

  #context(work: Work): ToolContext {
    const { options, partners, files, store, prompt, workspace } = this.#options;
    const { id: packetId, task_id: taskId } = work.cause.packet;
    const runId = this.#runId;
    return {
      engine: work.engine,
      workspace: workspace.directory,
      files: files === undefined ? undefined : resolveTaskFolder(files, taskId),
      store,
      options,
      partners,
      prompt,
      signal: work.signal,
      // Most tools call no service, so it is formatted on demand.
      get traceparent() {
        return formatTraceparent({ runId, taskId, packetId });
      },
      countTokens: (count) => work.countTokens(count),
      ask: (partner, payload, askOptions) => this.#ask(work, partner, payload, askOptions),
      record: (fileName, entry) => workspace.record(fileName, entry),
    };
  }

  async #ask(work: Work, id: string, payload: JsonObject, options: AskOptions = {}): Promise<JsonObject> {
    const partner = this.#options.partners.find((candidate) => candidate.id === id);
    if (partner === undefined) {
      throw new MeshError('agent', `${this.#options.id} may not ask ${id} (may_call of the team file)`);
    }
    this.#requests.check(id);
    const spent = work.spent();
    const sendable = this.#sender.encode(
      { type: callType(partner.tool), to: id, payload },
      work.cause.packet,
      spent.tokens,
    );
    if (!work.signal.aborted) this.#outbox?.add([{ packet: sendable.packet, cause: work.cause.packet.id }]);
    const reply = this.#requests.reply(sendable.packet.id, id, { taskSignal: work.signal, ...options });
    if (!work.signal.aborted) this.#sender.send(sendable, work.cause, spent);
    const received = await reply;
    work.goesOn(received);
    return received.packet.payload;
  }

  /**
   * Returns the packet that reports a failure and ends its task; the other tasks of a batch go on. An
   * unexpected error is a bug and is logged with its stack: it never becomes an answer.
   */
  #failure(error: unknown, packet: Packet): Emission {
    const isExpected = error instanceof MeshError;
    if (!this.#ended.signal.aborted) {
      this.#options.workspace.log.warn({
        dir: 'failed',
        task_id: packet.task_id,
        cause: packet.id,
        message: toErrorMessage(error),
        stack: isExpected || !(error instanceof Error) ? undefined : error.stack,
      });
    }
    const message = isExpected ? error.message : `bug: ${toErrorMessage(error)} (stack in agent.log)`;
    return {
      type: TASK_FAILED,
      tag: TASK_FAILED,
      payload: { code: isExpected ? error.code : 'bug', message: message.toWellFormed() },
    };
  }

  /**
   * Sends the results of a work and marks its packet as finished. If the connection has ended, the next one
   * does it.
   */
  #finish(emissions: readonly Emission[], work: Work): void {
    if (this.#ended.signal.aborted) return;
    if (this.#sendAll(emissions, work)) this.#receipts?.done(work.begins.id);
  }

  /** Stores packets before they are sent. Returns false if that fails, which ends the connection. */
  #keep(ready: readonly Sendable[], { cause, begins }: Work): boolean {
    const caused = ready.map(({ packet }) => ({ packet, cause: cause.packet.id }));
    try {
      this.#outbox?.add(caused, begins.id);
      return true;
    } catch (error) {
      this.#options.workspace.log.warn({ dir: 'failed', cause: begins.id, message: toErrorMessage(error) });
      this.#socket.destroy(error instanceof MeshError ? error : undefined);
      return false;
    }
  }

  /**
   * Sends all results of a work or none: a task must not continue with half of them. Returns false if none
   * was sent; they wait for the next connection.
   */
  #sendAll(emissions: readonly Emission[], work: Work): boolean {
    const { cause } = work;
    const spent = work.spent();
    let ready: Sendable[];
    try {
      // The tokens belong to the processed packet: they are counted once, however many packets result.
      ready = emissions.map((emission, i) =>
        this.#sender.encode(emission, cause.packet, i === 0 ? spent.tokens : 0),
      );
    } catch (error) {
      ready = [this.#sender.encode(this.#failure(error, cause.packet), cause.packet, spent.tokens)];
    }
    if (!this.#keep(ready, work)) return false;
    ready.forEach((sendable, i) => {
      this.#sender.send(sendable, cause, i === 0 ? spent : { toolUs: 0, engineUs: 0 });
    });
    return true;
  }

  /**
   * Handles the hub's count of taken packets on this connection. The first count is zero and means that the
   * hub is ready to receive.
   */
  #receiveTaken(taken = 0): void {
    if (this.#outbox === undefined) return;
    this.#outbox.taken(taken);
    if (this.#isResumed) return;
    this.#isResumed = true;
    const nowUs = readMonotonicUs();
    for (const { packet, cause } of this.#outbox.kept) {
      // The packets are logged again: the last of two lines about a packet counts, and a killed process may
      // not have written the first.
      const causedBy = { packet: { id: cause }, receivedUs: nowUs, decodeUs: 0 };
      this.#sender.send(this.#sender.encodePacket(packet), causedBy, { toolUs: 0, engineUs: 0 });
    }
  }
}
