import { type Codec, readHead, readPacket } from '../contracts/adapter.ts';
import { MeshError, placeMessage, toErrorMessage } from '../contracts/errors.ts';
import { findOrAddEntry } from '../contracts/others.ts';
import {
  FINAL_ANSWER,
  type JsonObject,
  MESH_TYPE_PREFIX,
  type Packet,
  type PacketHead,
  TASK_FAILED,
} from '../contracts/packet.ts';
import { type FrameRun, PREFIX_BYTES } from '../wire/frame.ts';
import type { AuthorizedPacket } from './batch.ts';
import type { DeliveryStrategy } from './delivery/delivery-strategy.ts';
import type { Link, MeshNode } from './link.ts';
import type { MeshObserver } from './mesh-observer.ts';
import type { Router } from './routing.ts';
import { answerText, type TaskClock } from './tasks/task-clock.ts';

/** Counters of packets of one type at the hub. */
interface TypeCounts {
  packets: number;
  bytes_rx: number;
  bytes_tx: number;
  tokens: number;
}

interface AuthorizerOptions {
  /** The only node that may tag a final answer; null if the agents use tags for their own purposes. */
  readonly final: string | null;
  readonly router: Router;
  readonly observer: MeshObserver;
  readonly tasks: ReadonlyMap<string, TaskClock>;
  readonly delivery: DeliveryStrategy;
  /** Receives a packet of the mesh itself, which is not relayed. */
  readonly onControl: (
    sender: Link,
    type: string,
    payload: JsonObject | undefined,
    frameBytes: number,
  ) => void;
}

const NOBODY: readonly Link[] = [];

/**
 * Decides which node may address which (`may_call` of the team file). A node that was asked may answer with
 * one packet for each request, even if its own list does not name the asker.
 */
class CallRights {
  /** Number of packets that wait for an answer, by asker and asked. */
  readonly #open = new Map<string, number>();

  /** @throws MeshError `packet` when `node` may not send `head` to its addressee */
  check(node: MeshNode, head: PacketHead): void {
    const { to } = head;
    const { id: from } = node;
    if (to === undefined || node.mayCall === undefined) return;
    if (node.mayCall.includes(to)) {
      const pair = joinPair(from, to);
      this.#open.set(pair, (this.#open.get(pair) ?? 0) + 1);
      return;
    }
    const asked = joinPair(to, from);
    const open = this.#open.get(asked) ?? 0;
    if (open === 0) {
      throw new MeshError('packet', `${from} may not call ${to} (may_call of the team file)`);
    }
    this.#open.set(asked, open - 1);
  }
}

/** Joins two node ids into a key; no node id contains a space. */
function joinPair(asker: string, asked: string): string {
  return `${asker} ${asked}`;
}

/** Checks every packet's rights, counts it, and finds its recipients. */
export class Authorizer {
  readonly typeCounts = new Map<string, TypeCounts>();
  readonly #options: AuthorizerOptions;
  readonly #rights = new CallRights();
  #isClosed = false;

  constructor(options: AuthorizerOptions) {
    this.#options = options;
  }

  /**
   * Stops relaying while ledgers are collected: agents that have handed theirs in would miss later packets.
   */
  close(): void {
    this.#isClosed = true;
  }

  /**
   * Checks the frame that was read last. Returns undefined for packets that are not relayed: refused,
   * repeated, or meant for the hub itself.
   */
  authorize(sender: Link, frames: FrameRun, nowMs: number): AuthorizedPacket | undefined {
    const { delivery, router, tasks } = this.#options;
    const frameBytes = PREFIX_BYTES + frames.end - frames.start;
    let head: PacketHead | Packet;
    try {
      head = readFrameHead(sender.codec, frames);
      if (head.from !== sender.node.id && sender.node.isForeign !== true)
        throw new MeshError('packet', `the packet claims to be from ${head.from}`);
    } catch (error) {
      delivery.receive(sender);
      return this.#refuse(sender, error, frameBytes);
    }
    // A type that was counted before is not a control type, and looking it up is faster.
    const counted = this.typeCounts.get(head.type);
    const isControl = counted === undefined && head.type.startsWith(MESH_TYPE_PREFIX);
    if (!isControl && !delivery.receive(sender, head)) {
      sender.counts.repeatedPackets += 1;
      sender.counts.repeatedBytes += frameBytes;
      return undefined;
    }
    let payload: JsonObject | undefined;
    try {
      if (isControl || this.#endsTask(head)) ({ payload } = readPacket(sender.codec, head, frames.blob));
      this.#checkRights(sender, head, payload);
    } catch (error) {
      return this.#refuse(sender, error, frameBytes);
    }
    if (isControl) {
      this.#options.onControl(sender, head.type, payload, frameBytes);
      return undefined;
    }
    const recipients = this.#isClosed ? NOBODY : router.recipients(head, sender);
    const { counts } = sender;
    counts.packetsRx += 1;
    counts.bytesRx += frameBytes;
    counts.tokens += head.token_used;
    countPacket(
      counted ?? findOrAddEntry(this.typeCounts, head.type, createTypeCounts),
      head,
      frameBytes,
      recipients.length,
    );
    const clock = tasks.get(head.task_id);
    if (clock !== undefined) {
      clock.count(head, frameBytes, recipients.length, nowMs);
      if (payload !== undefined) endTask(clock, head, payload, sender.node.tool, nowMs);
    }
    return { head, recipients, frameBytes };
  }

  #endsTask({ tag }: PacketHead): boolean {
    return tag !== undefined && this.#options.final !== null && (tag === FINAL_ANSWER || tag === TASK_FAILED);
  }

  #checkRights({ node }: Link, head: PacketHead, payload: JsonObject | undefined): void {
    const { final } = this.#options;
    this.#rights.check(node, head);
    if (final === null) return;
    if (head.tag === TASK_FAILED && node.mayFail === false) {
      throw new MeshError(
        'packet',
        `${node.id} may not end a task by ${TASK_FAILED} (may_fail of the team file)`,
      );
    }
    if (head.tag !== FINAL_ANSWER) return;
    if (node.id !== final) {
      throw new MeshError('packet', `${node.id} tagged a final answer; only ${final} may`);
    }
    if (answerText(payload?.answer) === undefined) {
      throw new MeshError('packet', 'a final answer needs payload {answer} with a text or a number');
    }
  }

  #refuse(sender: Link, error: unknown, frameBytes: number): undefined {
    sender.counts.refusedPackets += 1;
    sender.counts.refusedBytes += frameBytes;
    this.#options.observer.refused(sender.node.id, toErrorMessage(error), frameBytes);
  }
}

function createTypeCounts(): TypeCounts {
  return { packets: 0, bytes_rx: 0, bytes_tx: 0, tokens: 0 };
}

/** Reads the head as cheaply as the codec can. */
function readFrameHead(codec: Codec, frames: FrameRun): PacketHead | Packet {
  if (codec.peekAt === undefined) return readHead(codec, frames.blob);
  return codec.peekAt(frames.slab.bytes, frames.start, frames.end);
}

/** Counts a packet of `bytes` that is sent to `copies` recipients. */
function countPacket(counts: TypeCounts, { token_used }: PacketHead, bytes: number, copies: number): void {
  counts.packets += 1;
  counts.bytes_rx += bytes;
  counts.bytes_tx += bytes * copies;
  counts.tokens += token_used;
}

function endTask(
  clock: TaskClock,
  { tag }: PacketHead,
  payload: JsonObject,
  tool: string,
  nowMs: number,
): void {
  if (tag === FINAL_ANSWER) {
    clock.stop('answered', answerText(payload.answer) ?? null, nowMs, { final: payload });
  } else {
    clock.stop('failed', null, nowMs, {
      reason: placeMessage(tool, String(payload.message)),
      final: payload,
    });
  }
}
