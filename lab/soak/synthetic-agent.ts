import net from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { type Codec, readHead, readPacket } from '@gaia-mesh/core/contracts/adapter.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { createLedgerLine, type LedgerLine, measureLine } from '@gaia-mesh/core/contracts/ledger.ts';
import { DOC_INIT, FINAL_ANSWER, HUB_ID, type Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { Random } from '@gaia-mesh/core/system/random.ts';
import { FrameSocket } from '@gaia-mesh/core/transports/tcp/frame-socket.ts';
import { AgentLedger, LEDGER_TYPE, SETTLE_TYPE } from '@gaia-mesh/core/wire/books.ts';
import { encodeFrame, type FrameRun, PREFIX_BYTES } from '@gaia-mesh/core/wire/frame.ts';
import { answerHub } from '@gaia-mesh/core/wire/handshake.ts';
import { loadAdapter } from '@gaia-mesh/protocols/registry.ts';
import { listenOnPlace } from '@gaia-mesh/stacks/listen.ts';

/** Violations that one connection reports: they mostly have one cause. */
const MAX_VIOLATIONS = 5;

/**
 * Checks the packets that one connection brings: each sender's come in the order of their numbers, none twice, none left out. Ids
 * are `<session>-<number>`; a sender that begins another session begins anew.
 */
export class PacketOrder {
  readonly #onViolation: (message: string) => void;
  readonly #senders = new Map<string, { session: string; first: number; last: number }>();
  readonly #isLossy: boolean;
  #violations = 0;
  #furthest = 0;

  /** `isLossy`: some may be missing or come twice, since it was asked for. */
  constructor(isLossy: boolean, onViolation: (message: string) => void) {
    this.#isLossy = isLossy;
    this.#onViolation = onViolation;
  }

  /** How far the one has come that came furthest: packets since the first one that was seen of it. */
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

/** Type of the packets that only fill the mesh, and the task that they say they belong to. */
const NOISE = 'noise';
const NOISE_TASK = 'noise';
/** What the first agent of a team makes of a document, and the last one an answer of. */
const STEP = 'step';
const ANSWER = 'answer';
/** A run whose name ends so has packets missing and coming twice, since it was asked for. */
export const LOSSY = '-lossy';
export const SYNTHETIC_TOOL = 'synthetic';

/** Packets of one write: many enough that the writer is not what limits, few enough that every agent has its turn. */
const BATCH_PACKETS = 32;
/** Payload sizes from small to about what fits a page of memory. */
const PAYLOAD_BYTES = [16, 100, 400, 1500] as const;
/** Ids of all sessions of a run differ by this: an agent that is started again does not know what it had used. */
const ID_DIGITS = 9;

/** What an agent of a swarm is, and what it is told to do with its connection. */
interface SyntheticOptions {
  readonly id: string;
  readonly secret: string;
  /** The first hears documents, the last one answers; all others only fill the mesh. */
  readonly part: 'first' | 'last' | 'filler';
  readonly onViolation: (agent: string, message: string) => void;
}

/** What a flood is like. */
export interface Flood {
  readonly seed: number;
  /** Part of the packets that are no packets at all. */
  readonly brokenRate: number;
  /** Between batches; 0 for as fast as the hub takes them. */
  readonly pauseMs: number;
  /** Packets that an agent sends beyond what it has heard of the one that came furthest. */
  readonly ahead: number;
}

/**
 * An agent without a tool, many of which fit a process: it fills the mesh as fast as the hub lets it, checks the order of what it
 * hears, keeps its books, and has a part in tasks that run through the noise.
 */
export class SyntheticAgent {
  readonly port: number;
  readonly #options: SyntheticOptions;
  readonly #server: net.Server;
  #session: SyntheticSession | undefined;
  #flood: Flood | undefined;
  #sessions = 0;
  #runId: string | undefined;
  /** The run in which it sends nothing any more, whatever it hears late. */
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

  /** Packets sent in the session that it is in. */
  get sent(): number | null {
    return this.#session?.sent ?? null;
  }

  /** Settles when the present session sends nothing any more. */
  async set(flood: Flood | undefined): Promise<void> {
    this.#flood = flood;
    if (flood === undefined) this.#quietRunId = this.#runId;
    await this.#session?.set(flood);
  }

  /** Reads nothing for so long. */
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
      // A hub that dials while the last connection is still closing is refused, and dials again: it says so where it matters.
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
  readonly #books = new AgentLedger();
  readonly #order: PacketOrder;
  readonly #isQuiet: () => boolean;
  #number = 0;
  /** What it begins with when it first hears something: before that the hub may not be listening yet. */
  #first: Flood | undefined;
  #flood: Flood | undefined;
  #flooding: Promise<void> = Promise.resolve();
  /** Somebody waits to hear something, or for the flood's end. */
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
        const books = this.#packet(LEDGER_TYPE, NOISE_TASK, this.#books.toPayload());
        this.#socket.sendBlob(this.#codec.encode(books));
        return;
      }
      if (from !== HUB_ID) this.#order.saw(from, id);
      if (type === DOC_INIT || type === STEP) packet = readPacket(this.#codec, head, blob);
    } catch {
      // Corrupted on the way, as the round asked for: the books say so.
      this.#books.refused(bytes);
      return;
    }
    this.#books.received(bytes, 0);
    if (packet !== undefined && !this.#isQuiet()) this.#work(packet);
  }

  /** The first agent turns the question round, the last one turns it round again and answers. */
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
      // One write: what is written must be booked by then, since the connection may end at any time.
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
    // The books of packets that differ in their number only are the same: making them takes longer than the packet.
    if (known?.blobBytes !== blob.length) {
      const line = measureLine(this.#codec, packet, blob.length, this.#codec.layerBytes?.last);
      known = { line, blobBytes: blob.length };
      lines.set(size, known);
    }
    this.#booked(NOISE, known.line);
    return encodeFrame(blob);
  }

  /** Bytes that no adapter reads: the hub counts them as refused. */
  #broken(size: number): Buffer {
    const wire = PREFIX_BYTES + size;
    const envelope = { envelope: size, header_size: wire, net: wire };
    this.#booked('broken', { ...createLedgerLine(), packets: 1, wire, framing: PREFIX_BYTES, ...envelope });
    return encodeFrame(Buffer.alloc(size, 0xff));
  }

  #booked(type: string, line: LedgerLine): void {
    this.sent += 1;
    this.#books.sent(type, line, { toolUs: 0, encodeUs: 0 });
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

/** `abc` → `cba` */
function reverseText(text: string): string {
  return [...text].reverse().join('');
}
