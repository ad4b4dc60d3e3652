import type { Codec } from '../contracts/adapter.ts';
import type { MeshError } from '../contracts/errors.ts';
import { LEDGER_TYPE, type LedgerReport } from '../wire/books.ts';
import type { FrameLink, SlabPart } from '../wire/frame-link.ts';
import type { Slab } from '../wire/slab.ts';

/** An agent as the hub knows it: where it listens and what it may do. */
export interface MeshNode {
  readonly id: string;
  readonly tool: string;
  /** 0 for one that listens on no port. */
  readonly port: number;
  /** Nodes that it may address; without the list, all. */
  readonly mayCall?: readonly string[];
  /** Whether its `task_failed` ends a task; true if not given. */
  readonly mayFail?: boolean;
  readonly secret: string;
  /** What a person types to start it, where nobody else does. */
  readonly start?: string;
  /** It made no handshake: nobody knows whether its packets are from whom they say. */
  readonly isForeign?: boolean;
}

/** Counters of one link. Bytes are whole frames, the prefix included. */
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
  /** Acknowledgements. */
  ackRx: number;
  ackTx: number;
  /** Packets of it that had come before, and were dropped. */
  repeatedPackets: number;
  repeatedBytes: number;
}

/** The hub's end of one agent's connection. Lives from the handshake until the agent is deregistered. */
export class Link {
  readonly node: MeshNode;
  readonly socket: FrameLink;
  readonly codec: Codec;
  /** Opens a codec that reads what the agent sends from its first packet on, as {@link codec} did. */
  readonly openReader: () => Codec;
  /** Packet types that the agent works on, and those that it sends. */
  readonly subscribes: readonly string[];
  readonly emits: readonly string[];
  /** Packets that it was done with when the connection began, where deliveries are acknowledged. */
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
  /** Why the connection ended, if it did not end by the hub's own will. */
  fault: MeshError | undefined;
  /** Handed in at the end; missing for an agent that died. */
  ledgerReport: LedgerReport | undefined;
  /** Told when the system has not taken all that was written. */
  onBacklog: (link: Link) => void = () => undefined;
  readonly #readingHolds = new Set<string>();
  /** What this turn of the event loop has for the agent; see `delivery/write-coalescer.ts`. */
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

  /** Whether it will answer when it is asked for its books: a foreign agent need not. */
  get hasLedger(): boolean {
    return this.emits.includes(LEDGER_TYPE);
  }

  /** Reads nothing from the agent until every reason to hold back was released. */
  holdReading(reason: string): void {
    this.#readingHolds.add(reason);
    this.socket.pause();
  }

  releaseReading(reason: string): void {
    this.#readingHolds.delete(reason);
    if (this.#readingHolds.size === 0) this.socket.resume();
  }

  /** Writes a complete frame, whose bytes nobody may write over. */
  deliver(frame: Uint8Array): void {
    this.flush();
    this.#count(frame.length, 1);
    if (!this.socket.sendFrames(frame)) this.onBacklog(this);
  }

  /** Writes `packets` frames in a slab, which is held for as long as it must be. */
  deliverPart(slab: Slab, start: number, end: number, packets: number): void {
    this.flush();
    this.#count(end - start, packets);
    if (!this.socket.sendParts([{ slab, start, end }])) this.onBacklog(this);
  }

  /** Counts frames in a slab as delivered; {@link flush} writes them. True when they are the first ones that wait for it. */
  defer(slab: Slab, start: number, end: number, packets: number): boolean {
    this.#count(end - start, packets);
    const last = this.#turn.at(-1);
    if (last !== undefined && last.slab === slab && last.end === start) last.end = end;
    else this.#turn.push({ slab, start, end });
    return last === undefined;
  }

  /** Writes what was deferred. */
  flush(): void {
    if (this.#turn.length === 0) return;
    const isTaken = this.socket.sendParts(this.#turn);
    this.#turn.length = 0;
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
