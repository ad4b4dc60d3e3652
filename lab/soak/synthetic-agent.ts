import net from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { type Codec, readHead, readPacket } from '@gaia-mesh/core/contracts/adapter.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { createLedgerLine, type LedgerLine, measureLine } from '@gaia-mesh/core/contracts/ledger.ts';
import { DOC_INIT, FINAL_ANSWER, HUB_ID, type Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { Random } from '@gaia-mesh/core/system/random.ts';
import { FrameSocket } from '@gaia-mesh/core/transports/tcp/frame-socket.ts';
import { encodeFrame, type FrameRun, PREFIX_BYTES } from '@gaia-mesh/core/wire/frame.ts';
import { answerHub } from '@gaia-mesh/core/wire/handshake.ts';
import { AgentLedger, LEDGER_TYPE, SETTLE_TYPE } from '@gaia-mesh/core/wire/ledger-report.ts';
import { loadAdapter } from '@gaia-mesh/protocols/registry.ts';
import { listenOnPlace } from '@gaia-mesh/stacks/listen.ts';

/** Maximum violations that one connection reports: they mostly have one cause. */
const MAX_VIOLATIONS = 5;

/**
 * Checks the packets of one connection: each sender's packets must come in numerical order, none twice, none
 * missing. Ids are `<session>-<number>`; a sender that begins another session starts again.
 */
export class PacketOrder {
  readonly #onViolation: (message: string) => void;
  readonly #senders = new Map<string, { session: string; first: number; last: number }>();
  readonly #isLossy: boolean;
  #violations = 0;
  #furthest = 0;

  /** `isLossy`: packets may be missing or repeated, because faults were requested. */
  constructor(isLossy: boolean, onViolation: (message: string) => void) {
    this.#isLossy = isLossy;
    this.#onViolation = onViolation;
  }

  /** Progress of the sender that is furthest: packets since the first one seen from it. */
  get furthest(): number {
    return this.#furthest;
  }

  saw(from: string, id: string): void {
    const dash = id.lastIndexOf('-');
    const session = id.slice(0, dash);
    const number = Number(id.slice(dash + 1));
    const sender = this.#senders.get(from);
    if (sender?.session !== session) {
      this.#senders.set(from, { session, first: number, last: number });
      return;
    }
    if (number !== sender.last + 1 && !this.#isLossy && this.#violations < MAX_VIOLATIONS) {
      this.#violations += 1;
      this.#onViolation(`packet ${id} of ${from} came after its ${sender.last}`);
    }
    sender.last = number;
    this.#furthest = Math.max(this.#furthest, number - sender.first + 1);
  }
}

/** Type of the packets that only fill the mesh, and the task that they name. */
const NOISE = 'noise';
const NOISE_TASK = 'noise';
/** Types of the first agent's result for a document, and of the last agent's answer. */
const STEP = 'step';
const ANSWER = 'answer';
/** Suffix of a run's name in which packets may be missing and repeated, because faults were requested. */
export const LOSSY = '-lossy';
export const SYNTHETIC_TOOL = 'synthetic';

/**
 * Packets of one write: enough that the writer is not the limit, few enough that every agent has its turn.
 */
const BATCH_PACKETS = 32;
/** Payload sizes from small to about a page of memory. */
const PAYLOAD_BYTES = [16, 100, 400, 1500] as const;
/**
 * Digits of packet numbers. Ids start with the session, because a restarted agent does not know which ones it
 * had used.
 */
const ID_DIGITS = 9;

/** Description of an agent of a swarm. */
interface SyntheticOptions {
  readonly id: string;
  readonly secret: string;
  /** The first agent receives documents, the last one answers; all others only fill the mesh. */
  readonly part: 'first' | 'last' | 'filler';
  readonly onViolation: (agent: string, message: string) => void;
}

/** Settings of a flood. */
export interface Flood {
  readonly seed: number;
  /** Fraction of the packets that are invalid. */
  readonly brokenRate: number;
  /** Pause between batches in milliseconds; 0 to send as fast as the hub accepts. */
  readonly pauseMs: number;
  /** Packets that an agent may send beyond the number received from the sender that is furthest. */
  readonly ahead: number;
}

/**
 * An agent without a tool, many of which fit a process: it fills the mesh as fast as the hub lets it, checks
 * the order of received packets, keeps its ledger, and has a part in tasks that run through the noise.
 */
export class SyntheticAgent {
  readonly port: number;
  readonly #options: SyntheticOptions;
  readonly #server: net.Server;
  #session: SyntheticSession | undefined;
  #flood: Flood | undefined;
  #sessions = 0;
  #runId: string | undefined;
  /** Run in which it sends nothing any more, whatever arrives late. */
  #quietRunId: string | undefined;

  private constructor(options: SyntheticOptions, server: net.Server, port: number) {
    this.#options = options;
    this.#server = server;
    this.port = port;
    server.on('connection', (socket) => void this.#serve(FrameSocket.accept(socket)));
  }

  static async listen(options: SyntheticOptions): Promise<SyntheticAgent> {
    const server = net.createServer({ noDelay: true });
    return new SyntheticAgent(options, server, await listenOnPlace(server, { port: 0 }));
  }

  get id(): string {
    return this.#options.id;
  }

  /** Packets sent in its present session. */
  get sent(): number | null {
    return this.#session?.sent ?? null;
  }

  /** Settles when the present session has stopped sending. */
  async set(flood: Flood | undefined): Promise<void> {
    this.#flood = flood;
    if (flood === undefined) this.#quietRunId = this.#runId;
    await this.#session?.set(flood);
  }

  /** Stops reading for `ms`. */
  doze(ms: number): void {
    this.#session?.doze(ms);
  }

  async #serve(socket: FrameSocket): Promise<void> {
    const { id, secret, part } = this.#options;
    try {
      const agreed = await answerHub(socket, {
        node: id,
        tool: SYNTHETIC_TOOL,
        adapter: undefined,
        secret,
        subscribes: part === 'first' ? [DOC_INIT] : part === 'last' ? [STEP] : ['nothing'],
        emits: [NOISE, part === 'first' ? STEP : ANSWER, LEDGER_TYPE],
        resolveAdapter: (name) => loadAdapter(name),
        isBusy: () => this.#session !== undefined,
      });
      this.#sessions += 1;
      const codec = agreed.opener.open(agreed.session);
      const name = `${process.pid}.${this.#sessions}`;
      const { runId } = agreed.session;
      this.#runId = runId;
      const session = new SyntheticSession(this.#options, socket, codec, {
        name,
        isLossy: runId.endsWith(LOSSY),
        isQuiet: () => this.#quietRunId === runId,
        first: this.#flood,
      });
      this.#session = session;
      socket.start(agreed.maxFrameBytes, (run) => session.receive(run));
      await socket.closed;
      await session.set(undefined);
      this.#session = undefined;
    } catch (error) {
      // A hub that dials while the last connection is still closing is refused and dials again; it reports
      // real failures itself.
      if (!(error instanceof MeshError)) throw error;
      socket.destroy();
    }
  }

  close(): void {
    this.#server.close();
  }
}

interface SessionStart {
  readonly name: string;
  readonly isLossy: boolean;
  readonly isQuiet: () => boolean;
  readonly first: Flood | undefined;
}

/** One connection of a synthetic agent. */
class SyntheticSession {
  sent = 0;
  readonly #options: SyntheticOptions;
  readonly #socket: FrameSocket;
  readonly #codec: Codec;
  readonly #name: string;
  readonly #ledger = new AgentLedger();
  readonly #order: PacketOrder;
  readonly #isQuiet: () => boolean;
  #number = 0;
  /** Flood that begins with the first received packet: before that the hub may not be listening yet. */
  #first: Flood | undefined;
  #flood: Flood | undefined;
  #flooding: Promise<void> = Promise.resolve();
  /** Wakes code that waits for a packet or for the flood's end. */
  #onChange: (() => void) | undefined;

  constructor(
    options: SyntheticOptions,
    socket: FrameSocket,
    codec: Codec,
    { name, isLossy, isQuiet, first }: SessionStart,
  ) {
    this.#isQuiet = isQuiet;
    this.#first = first;
    this.#options = options;
    this.#socket = socket;
    this.#codec = codec;
    this.#name = name;
    this.#order = new PacketOrder(isLossy, (message) => options.onViolation(options.id, message));
  }

  async set(flood: Flood | undefined): Promise<void> {
    this.#first = undefined;
    this.#flood = flood;
    this.#onChange?.();
    await this.#flooding;
    if (flood === undefined) return;
    this.#flooding = this.#fill(flood);
  }

  doze(ms: number): void {
    this.#socket.pause();
    setTimeout(() => this.#socket.resume(), ms);
  }

  receive(run: FrameRun): void {
    for (const blob of run.blobs()) this.#take(blob);
    if (this.#first !== undefined) void this.set(this.#first);
    this.#onChange?.();
  }

  #take(blob: Uint8Array): void {
    const bytes = PREFIX_BYTES + blob.length;
    let packet: Packet | undefined;
    try {
      const head = readHead(this.#codec, blob);
      const { type, from, id } = head;
      if (from === HUB_ID && type !== DOC_INIT && type !== SETTLE_TYPE) return;
      if (type === SETTLE_TYPE) {
        const report = this.#packet(LEDGER_TYPE, NOISE_TASK, this.#ledger.toPayload());
        this.#socket.sendBlob(this.#codec.encode(report));
        return;
      }
      if (from !== HUB_ID) this.#order.saw(from, id);
      if (type === DOC_INIT || type === STEP) packet = readPacket(this.#codec, head, blob);
    } catch {
      // A fault corrupted it on the way: the ledger reports it.
      this.#ledger.refused(bytes);
      return;
    }
    this.#ledger.received(bytes, 0);
    if (packet !== undefined && !this.#isQuiet()) this.#work(packet);
  }

  /**
   * Does the agent's part of a task: the first agent reverses the question, the last one reverses it again
   * and answers.
   */
  #work({ type, task_id, payload }: Packet): void {
    const { part } = this.#options;
    if (type === DOC_INIT && part === 'first') {
      this.#send(this.#packet(STEP, task_id, { text: reverseText(String(payload.question)) }));
    } else if (type === STEP && part === 'last') {
      const answer = { answer: reverseText(String(payload.text)) };
      this.#send({ ...this.#packet(ANSWER, task_id, answer), tag: FINAL_ANSWER });
    }
  }

  #send(packet: Packet): void {
    const blob = this.#codec.encode(packet);
    this.#booked(packet.type, measureLine(this.#codec, packet, blob.length, this.#codec.layerBytes?.last));
    this.#socket.sendBlob(blob);
  }

  async #fill(flood: Flood): Promise<void> {
    const random = new Random(flood.seed);
    const lines = new Map<number, { line: LedgerLine; blobBytes: number }>();
    while (this.#flood === flood && !this.#socket.isClosed) {
      if (this.#number >= this.#order.furthest + flood.ahead) {
        await this.#change();
        continue;
      }
      const frames: Buffer[] = [];
      for (let i = 0; i < BATCH_PACKETS; i++) frames.push(this.#noise(random, flood, lines));
      // Everything must be counted before the one write, since the connection may end at any time.
      if (!this.#socket.sendFrames(Buffer.concat(frames))) await this.#socket.drained();
      await (flood.pauseMs === 0 ? nextTurn() : sleep(flood.pauseMs));
    }
  }

  async #change(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onChange = resolve;
    await promise;
    this.#onChange = undefined;
  }

  #noise(random: Random, flood: Flood, lines: Map<number, { line: LedgerLine; blobBytes: number }>): Buffer {
    const size = PAYLOAD_BYTES[random.integer(PAYLOAD_BYTES.length)] ?? 16;
    if (random.uniform() < flood.brokenRate) return this.#broken(size);
    const packet = this.#packet(NOISE, NOISE_TASK, { text: 'x'.repeat(size) });
    const blob = this.#codec.encode(packet);
    let known = lines.get(size);
    // Packets that differ only in their number have the same ledger line: measuring takes longer than the
    // packet.
    if (known?.blobBytes !== blob.length) {
      const line = measureLine(this.#codec, packet, blob.length, this.#codec.layerBytes?.last);
      known = { line, blobBytes: blob.length };
      lines.set(size, known);
    }
    this.#booked(NOISE, known.line);
    return encodeFrame(blob);
  }

  /** Encodes bytes that no adapter reads: the hub counts them as refused. */
  #broken(size: number): Buffer {
    const wire = PREFIX_BYTES + size;
    const envelope = { envelope: size, header_size: wire, net: wire };
    this.#booked('broken', { ...createLedgerLine(), packets: 1, wire, framing: PREFIX_BYTES, ...envelope });
    return encodeFrame(Buffer.alloc(size, 0xff));
  }

  #booked(type: string, line: LedgerLine): void {
    this.sent += 1;
    this.#ledger.sent(type, line, { toolUs: 0, encodeUs: 0 });
  }

  #packet(type: string, taskId: string, payload: Packet['payload']): Packet {
    this.#number += 1;
    return {
      type,
      from: this.#options.id,
      id: `${this.#name}-${String(this.#number).padStart(ID_DIGITS, '0')}`,
      task_id: taskId,
      token_used: 1,
      ts: 0,
      payload,
    };
  }
}

/** Turns `abc` into `cba`. */
function reverseText(text: string): string {
  return [...text].reverse().join('');
}
