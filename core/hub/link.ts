import type { Codec } from '../adapter.ts';
import { BOOKS_TYPE, type Books } from '../books.ts';
import type { MeshError } from '../errors.ts';
import type { RunUse } from '../frame.ts';
import type { FrameSocket } from '../frame-socket.ts';

/** An agent as the hub knows it: where it listens and what it may do. */
export interface MeshNode {
  readonly id: string;
  readonly tool: string;
  readonly port: number;
  /** Nodes that it may address; without the list, all. */
  readonly mayCall?: readonly string[];
  readonly secret: string;
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
}

/** The hub's end of one agent's connection. Lives from the handshake until the agent is deregistered. */
export class Link {
  readonly node: MeshNode;
  readonly socket: FrameSocket;
  readonly codec: Codec;
  /** Packet types that the agent works on, and those that it sends. */
  readonly subscribes: readonly string[];
  readonly emits: readonly string[];
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
  };

  alive = true;
  /** Why the connection ended, if it did not end by the hub's own will. */
  fault: MeshError | undefined;
  /** Handed in at the end; missing for an agent that died. */
  books: Books | undefined;
  readonly #readingHolds = new Set<string>();

  constructor(node: MeshNode, socket: FrameSocket, codec: Codec, types: Pick<Link, 'subscribes' | 'emits'>) {
    this.node = node;
    this.socket = socket;
    this.codec = codec;
    this.subscribes = types.subscribes;
    this.emits = types.emits;
  }

  /** Whether it will answer when it is asked for its books: a foreign agent need not. */
  get keepsBooks(): boolean {
    return this.emits.includes(BOOKS_TYPE);
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

  /** Writes `packets` complete frames. `kept` when some bytes wait in this process and must not be overwritten. */
  deliver(frames: Uint8Array, packets: number): RunUse {
    this.counts.packetsTx += packets;
    this.counts.bytesTx += frames.length;
    return this.socket.sendFrames(frames) ? 'done' : 'kept';
  }
}
