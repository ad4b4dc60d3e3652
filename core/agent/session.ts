import { type Codec, readHead } from '../adapter.ts';
import { BOOKS_TYPE, BookKeeper, SETTLE_TYPE } from '../books.ts';
import { monotonicUs } from '../clock.ts';
import type { Engine } from '../engine.ts';
import { MeshError, messageOf } from '../errors.ts';
import { blobsOf, type FrameRun, PREFIX_BYTES, type RunUse } from '../frame.ts';
import type { FrameSocket } from '../frame-socket.ts';
import { lineOf } from '../ledger.ts';
import { MAX_CONCURRENT_PACKETS } from '../limits.ts';
import { nowMs } from '../log.ts';
import { type Packet, type PacketHead, parsePacket, TASK_FAILED } from '../packet.ts';
import type { Emission, Tool, ToolContext } from '../tool.ts';
import type { Workspace } from './workspace.ts';

export interface SessionOptions {
  readonly id: string;
  readonly tool: Tool;
  readonly engine: Engine;
  /** Packet types that it works on. */
  readonly subscribes: readonly string[];
  readonly workspace: Workspace;
}

/** A packet that came, with the times of its arrival (monotonic) and of its decoding, in microseconds. */
interface Received {
  readonly packet: Packet;
  readonly receivedUs: number;
  readonly decodeUs: number;
}

/** What the work for one packet came to. `engineUs` is the part of `toolUs` that the engine took. */
interface Work {
  readonly emissions: readonly Emission[];
  readonly tokens: number;
  readonly toolUs: number;
  readonly engineUs: number;
}

interface Sendable {
  readonly packet: Packet;
  readonly blob: Uint8Array;
  readonly layerBytes: number;
  readonly encodeUs: number;
}

/**
 * An agent's side of one run: hears packets, works on those meant for its tool, each in a task of its own (MP-53), and
 * sends what comes out. Reading goes on meanwhile.
 */
export class AgentSession {
  readonly #options: SessionOptions;
  readonly #socket: FrameSocket;
  readonly #codec: Codec;
  readonly #maxFrameBytes: number;
  readonly #books = new BookKeeper();
  readonly #ended = new AbortController();
  #working = 0;
  #packetNumber = 0;

  constructor(options: SessionOptions, socket: FrameSocket, codec: Codec, maxFrameBytes: number) {
    this.#options = options;
    this.#socket = socket;
    this.#codec = codec;
    this.#maxFrameBytes = maxFrameBytes;
  }

  /** Takes one run of frames; give it to the socket's `start`. */
  receive(run: FrameRun): RunUse {
    const receivedUs = monotonicUs();
    // Decoders may hand out views of these bytes, and the work for a packet outlives the run.
    const copy = { bytes: Buffer.from(run.bytes), ends: run.ends };
    for (const blob of blobsOf(copy)) this.#receiveBlob(blob, receivedUs);
    return 'done';
  }

  /** Stops the work that is still going on: its results are not sent any more. */
  end(): void {
    this.#ended.abort();
  }

  #receiveBlob(blob: Buffer, receivedUs: number): void {
    const { log, memory } = this.#options.workspace;
    const bytes = PREFIX_BYTES + blob.length;
    const beginUs = monotonicUs();
    let head: PacketHead;
    let packet: Packet | undefined;
    try {
      const seen = readHead(this.#codec, blob);
      head = seen.head;
      // Most packets of a broadcast are for others: their heads are enough.
      if (this.#isForUs(head) || head.type === SETTLE_TYPE) packet = seen.packet ?? this.#codec.decode(blob);
    } catch (error) {
      this.#books.refused(bytes);
      log.warn({ dir: 'received', refused: messageOf(error), bytes });
      return;
    }
    if (packet?.type === SETTLE_TYPE) {
      this.#settle(packet);
      return;
    }
    const decodeUs = monotonicUs() - beginUs;
    this.#books.received(bytes, decodeUs);
    memory.packets_received += 1;
    const { type, from, to, id, task_id, tag, token_used } = head;
    log.info({ dir: 'received', bytes, type, from, to, id, task_id, tag, token_used });
    if (packet !== undefined) void this.#process({ packet, receivedUs, decodeUs });
  }

  #isForUs({ type, to }: PacketHead): boolean {
    const { id, subscribes } = this.#options;
    return (to === undefined || to === id) && subscribes.includes(type);
  }

  /** The books are closed before they are handed in: nothing is sent after them. */
  #settle(request: Packet): void {
    this.end();
    const packet = this.#packet({ type: BOOKS_TYPE, payload: this.#books.toPayload() }, request, 0);
    this.#socket.sendBlob(this.#codec.encode(packet));
  }

  async #process(received: Received): Promise<void> {
    this.#working += 1;
    if (this.#working === MAX_CONCURRENT_PACKETS) this.#socket.pause();
    const work = await this.#work(received.packet);
    if (!this.#ended.signal.aborted) this.#sendAll(work, received);
    await this.#socket.drained();
    this.#working -= 1;
    if (this.#working === MAX_CONCURRENT_PACKETS - 1) this.#socket.resume();
  }

  async #work(packet: Packet): Promise<Work> {
    const { tool, engine, workspace } = this.#options;
    let tokens = 0;
    let engineUs = 0;
    const context: ToolContext = {
      engine: {
        ...engine,
        perform: async (step, work) => {
          const beginUs = monotonicUs();
          try {
            return await engine.perform(step, work);
          } finally {
            engineUs += monotonicUs() - beginUs;
          }
        },
      },
      signal: this.#ended.signal,
      countTokens: (count) => {
        tokens += count;
      },
      record: (fileName, entry) => workspace.record(fileName, entry),
    };
    const beginUs = monotonicUs();
    let emissions: readonly Emission[];
    try {
      emissions = await tool.run(packet, context);
    } catch (error) {
      emissions = [this.#failure(error, packet)];
    }
    return { emissions, tokens, toolUs: monotonicUs() - beginUs, engineUs };
  }

  /**
   * A failure travels as a packet that ends the task: the others of a batch go on. One that nobody foresaw is a bug, and
   * says so with its stack: it never turns into an answer.
   */
  #failure(error: unknown, packet: Packet): Emission {
    const isExpected = error instanceof MeshError;
    if (!this.#ended.signal.aborted) {
      this.#options.workspace.log.warn({
        dir: 'failed',
        task_id: packet.task_id,
        cause: packet.id,
        message: messageOf(error),
        ...(isExpected || !(error instanceof Error) ? {} : { stack: error.stack }),
      });
    }
    const message = isExpected ? error.message : `bug: ${messageOf(error)} (stack in agent.log)`;
    return {
      type: TASK_FAILED,
      tag: TASK_FAILED,
      payload: { code: isExpected ? error.code : 'bug', message: message.toWellFormed() },
    };
  }

  /** All or none: a task must not go on with half of what came of a packet. */
  #sendAll(work: Work, received: Received): void {
    const cause = received.packet;
    let ready: Sendable[];
    try {
      // The tokens belong to the packet that was worked on: counted once, however many packets come of it.
      ready = work.emissions.map((emission, i) => this.#encode(emission, cause, i === 0 ? work.tokens : 0));
    } catch (error) {
      ready = [this.#encode(this.#failure(error, cause), cause, work.tokens)];
    }
    ready.forEach((sendable, i) => {
      this.#send(sendable, received, i === 0 ? work : { toolUs: 0, engineUs: 0 });
    });
  }

  #encode(emission: Emission, cause: Packet, tokens: number): Sendable {
    const beginUs = monotonicUs();
    const packet = this.#packet(emission, cause, tokens);
    const blob = this.#codec.encode(packet);
    if (blob.length > this.#maxFrameBytes) {
      throw new MeshError(
        'packet',
        `${packet.type} takes ${blob.length} bytes; a frame has at most ${this.#maxFrameBytes}`,
      );
    }
    const layerBytes = this.#codec.layerBytes?.last ?? 0;
    return { packet, blob, layerBytes, encodeUs: monotonicUs() - beginUs };
  }

  /** The log line has the packet whole, what caused it, and its times: a recording is made of these lines. */
  #send(
    { packet, blob, layerBytes, encodeUs }: Sendable,
    received: Received,
    work: Pick<Work, 'toolUs' | 'engineUs'>,
  ): void {
    const { workspace } = this.#options;
    const sentMs = nowMs();
    const sentUs = monotonicUs();
    const bytes = this.#socket.sendBlob(blob);
    // After sending: what the books cost is not on the packet's way.
    const times = {
      received_us: Math.round(received.receivedUs),
      decode_us: rounded(received.decodeUs),
      tool_us: rounded(work.toolUs),
      engine_us: rounded(work.engineUs),
      encode_us: rounded(encodeUs),
      sent_us: Math.round(sentUs),
    };
    workspace.log.info({ dir: 'sent', bytes, cause: received.packet.id, ...times, ...packet }, sentMs);
    workspace.remember(packet.task_id, packet.type, packet.token_used);
    const line = lineOf(this.#codec, packet, blob.length, layerBytes);
    this.#books.sent(packet.type, line, { toolUs: work.toolUs, encodeUs });
  }

  #packet(emission: Emission, cause: Packet, tokens: number): Packet {
    const { id, workspace } = this.#options;
    if (emission.recorded !== undefined) return emission.recorded;
    this.#packetNumber += 1;
    // Packet ids are unique in the run, and it does not know which it had used. No node id has a `~`.
    const { restarts } = workspace.memory;
    const self = restarts === undefined ? id : `${id}~${restarts}`;
    return parsePacket({
      type: emission.type,
      from: id,
      ...(emission.to === undefined ? {} : { to: emission.to }),
      id: `${self}-${this.#packetNumber}`,
      ...(emission.reply_to === undefined ? {} : { reply_to: emission.reply_to }),
      task_id: cause.task_id,
      ...(emission.tag === undefined ? {} : { tag: emission.tag }),
      token_used: tokens,
      ...(emission.log === undefined ? {} : { log_uri: `workspaces/${id}/${emission.log}` }),
      ts: Date.now(),
      payload: emission.payload,
    });
  }
}

/** To a tenth of a microsecond: below that a clock says nothing. */
function rounded(us: number): number {
  return Math.round(us * 10) / 10;
}
