import type { Codec } from '../contracts/adapter.ts';
import { MeshError } from '../contracts/errors.ts';
import { lineOf } from '../contracts/ledger.ts';
import { folderNameOf } from '../contracts/node-id.ts';
import { type JsonObject, type Packet, parsePacket } from '../contracts/packet.ts';
import type { Emission } from '../contracts/tool.ts';
import { monotonicUs } from '../system/clock.ts';
import { nowMs } from '../system/log.ts';
import type { BookKeeper } from '../wire/books.ts';
import { ACK_TYPE } from '../wire/delivery.ts';
import type { FrameLink } from '../wire/frame-link.ts';
import type { Outbox } from './outbox/outbox.ts';
import type { Received } from './requests.ts';
import type { Spent } from './work.ts';
import type { Workspace } from './workspace.ts';

interface PacketSenderOptions {
  /** Of the agent. */
  readonly id: string;
  readonly workspace: Workspace;
  readonly socket: FrameLink;
  readonly codec: Codec;
  readonly maxFrameBytes: number;
  /** Counts the agent's packets in the run: their ids are unique in it. */
  readonly numbers: { last: number };
  readonly outbox: Outbox | undefined;
  readonly books: BookKeeper;
  /** What is sent instead of what the tool says; see {@link Rewrite}. */
  readonly rewrite: Rewrite | undefined;
}

/**
 * What an agent sends instead of what its tool says, because of `cause`: where it was told to lie, or goes again through a question that was
 * recorded. Only the payload may be another.
 *
 * @throws MeshError where it cannot be told
 */
export type Rewrite = (emission: Emission, cause: Packet) => Emission;

/** A packet as it leaves. */
export interface Sendable {
  readonly packet: Packet;
  readonly blob: Uint8Array;
  readonly layerBytes: number;
  readonly encodeUs: number;
}

/** Makes an agent's packets, and sends, logs and books them. */
export class PacketSender {
  readonly #options: PacketSenderOptions;

  constructor(options: PacketSenderOptions) {
    this.#options = options;
  }

  /** What an agent emits because of `cause`, ready to be sent. @throws MeshError `packet` for one that no frame holds */
  encode(emission: Emission, cause: Packet, tokens: number): Sendable {
    const said = this.#options.rewrite?.(emission, cause) ?? emission;
    return this.encodePacket(this.#packet(said, cause, tokens));
  }

  encodePacket(packet: Packet): Sendable {
    const { codec, maxFrameBytes } = this.#options;
    const beginUs = monotonicUs();
    const blob = codec.encode(packet);
    if (blob.length > maxFrameBytes) {
      throw new MeshError(
        'packet',
        `${packet.type} takes ${blob.length} bytes; a frame has at most ${maxFrameBytes}`,
      );
    }
    const layerBytes = codec.layerBytes?.last ?? 0;
    return { packet, blob, layerBytes, encodeUs: monotonicUs() - beginUs };
  }

  /** The log line has the packet whole, what caused it, and its times: a recording is made of these lines. */
  send(
    { packet, blob, layerBytes, encodeUs }: Sendable,
    received: Omit<Received, 'packet'> & { readonly packet: Pick<Packet, 'id'> },
    work: Pick<Spent, 'toolUs' | 'engineUs'>,
  ): void {
    const { workspace, socket, codec, books } = this.#options;
    const sentMs = nowMs();
    const sentUs = monotonicUs();
    const bytes = socket.sendBlob(blob);
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
    const line = lineOf(codec, packet, blob.length, layerBytes);
    books.sent(packet.type, line, { toolUs: work.toolUs, encodeUs });
  }

  /** Sends what is the mesh's own: logged nowhere, booked nowhere. */
  sendControl(emission: Emission, cause: Packet): void {
    const { socket, codec } = this.#options;
    socket.sendBlob(codec.encode(this.#packet(emission, cause, 0)));
  }

  /** Tells the hub what became of its deliveries; on no line of the ledger's packets, and in no log. */
  acknowledge(payload: JsonObject): void {
    const { id: from, socket, codec } = this.#options;
    // Nobody refers to it, so it needs no id of its own.
    const envelope = { type: ACK_TYPE, from, id: 'ack', task_id: 'mesh', token_used: 0, ts: Date.now() };
    socket.sendBlob(codec.encode({ ...envelope, payload }));
  }

  #packet(emission: Emission, cause: Packet, tokens: number): Packet {
    const { id, workspace, numbers, outbox } = this.#options;
    if (emission.recorded !== undefined) return emission.recorded;
    numbers.last += 1;
    // Packet ids are unique in the run, and it does not know which it had used. No node id has a `+`.
    // The workspace of an agent that is started again on another host is a new one.
    const restarts = Math.max(workspace.memory.restarts ?? 0, outbox?.restarts ?? 0);
    const self = restarts === 0 ? id : `${id}+${restarts}`;
    return parsePacket({
      type: emission.type,
      from: id,
      ...(emission.to === undefined ? {} : { to: emission.to }),
      id: `${self}-${numbers.last}`,
      ...(emission.reply_to === undefined ? {} : { reply_to: emission.reply_to }),
      task_id: cause.task_id,
      ...(emission.tag === undefined ? {} : { tag: emission.tag }),
      token_used: tokens,
      ...(emission.log === undefined ? {} : { log_uri: `workspaces/${folderNameOf(id)}/${emission.log}` }),
      ts: Date.now(),
      payload: emission.payload,
    });
  }
}

/** To a tenth of a microsecond: below that a clock says nothing. */
function rounded(us: number): number {
  return Math.round(us * 10) / 10;
}
