import type { Codec } from '../contracts/adapter.ts';
import type { MeshError } from '../contracts/errors.ts';
import { MESH_TYPES } from '../contracts/packet.ts';
import type { FrameLink, SlabPart } from '../wire/frame-link.ts';
import type { LedgerReport } from '../wire/ledger-report.ts';
import type { Slab } from '../wire/slab.ts';

/** An agent as the hub knows it: its address and its rights. */
export interface MeshNode {
  readonly id: string;
  readonly tool: string;
  /** Port; 0 if it listens on none. */
  readonly port: number;
  /** Nodes that it may address; all if undefined. */
  readonly mayCall?: readonly string[] | undefined;
  /** False if its `task_failed` does not end a task; the default is true. */
  readonly mayFail?: boolean | undefined;
  readonly secret: string;
  /** Command that a person types to start it, if nothing else starts it. */
  readonly start?: string | undefined;
  /** True if it made no handshake: the senders of its packets are unproven. */
  readonly isForeign?: boolean;
}

/** Counters of one link. Bytes are whole frames, including the prefix. */
export interface LinkCounts {
  packetsRx: number;
  bytesRx: number;
  packetsTx: number;
  bytesTx: number;
  tokens: number;
  sessionRx: number;
  sessionTx: number;
  refusedPackets: number;
  refusedBytes: number;
  /** Bytes of acknowledgements. */
  ackRx: number;
  ackTx: number;
  /** Repeated packets from it, which were dropped. */
  repeatedPackets: number;
  repeatedBytes: number;
}

/** The hub's end of one agent's connection. It lives from the handshake until the agent is deregistered. */
export class Link {
  readonly node: MeshNode;
  readonly socket: FrameLink;
  readonly codec: Codec;
  /** Opens a codec that can read the agent's packets from the first one on, as {@link codec} did. */
  readonly openReader: () => Codec;
  /** Packet types that the agent works on, and packet types that it sends. */
  readonly subscribes: readonly string[];
  readonly emits: readonly string[];
  /** Packets that it had finished when the connection began, if deliveries are acknowledged. */
  readonly done: readonly string[];
  readonly counts: LinkCounts = {
    packetsRx: 0,
    bytesRx: 0,
    packetsTx: 0,
    bytesTx: 0,
    tokens: 0,
    sessionRx: 0,
    sessionTx: 0,
    refusedPackets: 0,
    refusedBytes: 0,
    ackRx: 0,
    ackTx: 0,
    repeatedPackets: 0,
    repeatedBytes: 0,
  };

  alive = true;
  /** Reason why the connection ended, unless the hub ended it. */
  fault: MeshError | undefined;
  /** Ledger that the agent handed in at the end; missing if it died. */
  ledgerReport: LedgerReport | undefined;
  /** Called when the system has not accepted everything that was written. */
  onBacklog: (link: Link) => void = () => undefined;
  readonly #readingHolds = new Set<string>();
  /** Parts that this turn of the event loop has for the agent; see `delivery/direct.ts`. */
  readonly #turn: Part[] = [];

  constructor(
    node: MeshNode,
    socket: FrameLink,
    openReader: () => Codec,
    said: Pick<Link, 'subscribes' | 'emits' | 'done'>,
  ) {
    this.node = node;
    this.socket = socket;
    this.codec = openReader();
    this.openReader = openReader;
    this.subscribes = said.subscribes;
    this.emits = said.emits;
    this.done = said.done;
  }

  /** True if it answers when the hub asks for its ledger; a foreign agent need not. */
  get hasLedger(): boolean {
    return this.emits.includes(MESH_TYPES.ledger);
  }

  /** Stops reading from the agent until every reason has been released. */
  holdReading(reason: string): void {
    this.#readingHolds.add(reason);
    this.socket.pause();
  }

  releaseReading(reason: string): void {
    this.#readingHolds.delete(reason);
    if (this.#readingHolds.size === 0) this.socket.resume();
  }

  /** Writes a complete frame, whose bytes must not be overwritten. */
  deliver(frame: Uint8Array): void {
    this.flush();
    this.#count(frame.length, 1);
    if (!this.socket.sendFrames(frame)) this.onBacklog(this);
  }

  /** Writes `packets` frames in a slab, which is held as long as necessary. */
  deliverPart(slab: Slab, start: number, end: number, packets: number): void {
    this.flush();
    this.#count(end - start, packets);
    if (!this.socket.sendParts([{ slab, start, end }])) this.onBacklog(this);
  }

  /**
   * Counts frames in a slab as delivered; {@link flush} writes them. Returns true if they are the first ones
   * that wait.
   */
  defer(slab: Slab, start: number, end: number, packets: number): boolean {
    this.#count(end - start, packets);
    const last = this.#turn.at(-1);
    if (last !== undefined && last.slab === slab && last.end === start) last.end = end;
    else this.#turn.push({ slab, start, end });
    return last === undefined;
  }

  /** Writes the deferred frames. */
  flush(): void {
    if (this.#turn.length === 0) return;
    const isTaken = this.socket.sendParts(this.#turn);
    emptyList(this.#turn);
    if (!isTaken) this.onBacklog(this);
  }

  #count(bytes: number, packets: number): void {
    this.counts.packetsTx += packets;
    this.counts.bytesTx += bytes;
  }
}

interface Part extends SlabPart {
  end: number;
}

/** Empties a list that is filled in every turn; setting its length to 0 would drop its memory, too. */
export function emptyList(list: unknown[]): void {
  while (list.length > 0) list.pop();
}
