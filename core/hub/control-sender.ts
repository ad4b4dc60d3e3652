import type { Codec } from '../contracts/adapter.ts';
import { HUB_ID, type JsonObject, MESH_TYPES, type Packet } from '../contracts/packet.ts';
import type { Link } from './link.ts';

/** Sends the hub's own packets, with its own id and numbering. */
export class ControlSender {
  readonly #codec: Codec;
  #packetNumber = 0;

  constructor(codec: Codec) {
    this.#codec = codec;
  }

  packet(type: string, taskId: string, payload: JsonObject): Packet {
    this.#packetNumber += 1;
    return buildControlPacket(type, `${HUB_ID}-${this.#packetNumber}`, taskId, payload);
  }

  /** Sends a packet of the mesh itself to those agents that understand it. */
  send(links: readonly Link[], type: string, taskId: string, payload: JsonObject): void {
    for (const link of links) {
      if (!link.alive || !link.hasLedger) continue;
      link.counts.sessionTx += link.socket.sendBlob(this.#codec.encode(this.packet(type, taskId, payload)));
    }
  }

  /** Sends a cumulative acknowledgement: the number of packets of the connection that were taken over. */
  acknowledge(link: Link, taken: number): void {
    if (!link.alive) return;
    // No packet refers to it, so it needs no number: documents have the same ids with and without it.
    const blob = this.#codec.encode(buildControlPacket(MESH_TYPES.ack, 'ack', 'mesh', { taken }));
    link.counts.ackTx += link.socket.sendBlob(blob);
  }
}

function buildControlPacket(type: string, id: string, taskId: string, payload: JsonObject): Packet {
  return { type, from: HUB_ID, id, task_id: taskId, token_used: 0, ts: Date.now(), payload };
}
