import { type AlikePackets, readHead } from '../adapter.ts';
import { sharedId } from '../copy-id.ts';
import { MeshError, messageOf } from '../errors.ts';
import { PREFIX_BYTES } from '../frame.ts';
import { FINAL_ANSWER, type JsonObject, MESH_TYPE_PREFIX, type PacketHead, TASK_FAILED } from '../packet.ts';
import { CallRights } from './call-rights.ts';
import type { AcknowledgedDelivery } from './delivery/acknowledged-delivery.ts';
import type { Link } from './link.ts';
import type { MeshObserver } from './mesh-observer.ts';
import type { PacketJudge } from './relay.ts';
import type { RelayNews } from './relay-news.ts';
import type { Router } from './routing.ts';
import { answerText, type TaskClock } from './task-clock.ts';
import { countType, type TypeCounts } from './type-counts.ts';

export interface AdmissionOptions {
  /** The only node that may tag a final answer; null where tags are the agents' own business. */
  readonly final: string | null;
  readonly router: Router;
  readonly observer: MeshObserver;
  readonly tasks: ReadonlyMap<string, TaskClock>;
  /** Where packets are noted one by one, if anybody wants to know of them. */
  readonly news: RelayNews | undefined;
  readonly delivery: AcknowledgedDelivery | undefined;
  /** A packet of the mesh's own, which is not relayed. */
  readonly hearMesh: (
    sender: Link,
    type: string,
    payload: JsonObject | undefined,
    frameBytes: number,
  ) => void;
}

/** Who may say what: every packet is checked here, counted, and gets its recipients. */
export class Admission implements PacketJudge {
  readonly typeCounts = new Map<string, TypeCounts>();
  readonly #options: AdmissionOptions;
  readonly #rights = new CallRights();
  #isClosed = false;

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  /** The books are being closed: what is sent on now would be missing in the books of those who are done. */
  close(): void {
    this.#isClosed = true;
  }

  judge(sender: Link, blob: Buffer, nowMs: number): readonly Link[] {
    const { delivery, news, router, tasks } = this.#options;
    const frameBytes = PREFIX_BYTES + blob.length;
    let head: PacketHead;
    let payload: JsonObject | undefined;
    let isOwn: boolean;
    try {
      const seen = readHead(sender.codec, blob);
      head = seen.head;
      if (head.from !== sender.node.id && sender.node.isForeign !== true)
        throw new MeshError('packet', `packet says it is from ${head.from}`);
      isOwn = head.type.startsWith(MESH_TYPE_PREFIX);
      if (!isOwn && delivery?.isRepeated(sender, head.id) === true) {
        sender.counts.repeatedPackets += 1;
        sender.counts.repeatedBytes += frameBytes;
        delivery.took(sender);
        return [];
      }
      if (isOwn || this.#endsTask(head)) payload = (seen.packet ?? sender.codec.decode(blob)).payload;
      this.#checkRights(sender, head, payload);
    } catch (error) {
      return this.#refuse(sender, messageOf(error), frameBytes);
    }
    if (isOwn) {
      this.#options.hearMesh(sender, head.type, payload, frameBytes);
      return [];
    }
    delivery?.took(sender);
    const recipients = this.#isClosed ? [] : router.recipients(head, sender);
    const { counts } = sender;
    counts.packetsRx += 1;
    counts.bytesRx += frameBytes;
    counts.tokens += head.token_used;
    countType(this.typeCounts, head, 1, head.token_used, frameBytes, recipients.length);
    const clock = tasks.get(head.task_id);
    clock?.count(head, frameBytes, recipients.length, nowMs);
    if (head.tag === FINAL_ANSWER) {
      clock?.stop('answered', answerText(payload?.answer) ?? null, nowMs, { final: payload });
    }
    if (head.tag === TASK_FAILED) {
      const reason = `${sender.node.tool}: ${String(payload?.message)}`;
      clock?.stop('failed', null, nowMs, { reason, final: payload });
    }
    news?.add({ head, tool: sender.node.tool, frameBytes, recipients: recipients.length });
    return recipients;
  }

  /** What somebody wants to know of each packet, and whatever takes more than adding numbers, is for {@link Admission.judge}. */
  judgeAlike(
    sender: Link,
    { head, packets, tokens }: AlikePackets,
    bytes: number,
  ): readonly Link[] | undefined {
    const { news, router, tasks } = this.#options;
    const { isForeign, id } = sender.node;
    if (news !== undefined || this.#isClosed || tasks.has(head.task_id)) return undefined;
    if ((head.from !== id || head.to !== undefined) && isForeign !== true) return undefined;
    if (this.#endsTask(head) || head.type.startsWith(MESH_TYPE_PREFIX)) return undefined;
    const recipients = router.recipients(head, sender);
    const { counts } = sender;
    counts.packetsRx += packets;
    counts.bytesRx += bytes;
    counts.tokens += tokens;
    countType(this.typeCounts, head, packets, tokens, bytes, recipients.length);
    return recipients;
  }

  #endsTask({ tag }: PacketHead): boolean {
    return this.#options.final !== null && (tag === FINAL_ANSWER || tag === TASK_FAILED);
  }

  #checkRights({ node }: Link, head: PacketHead, payload: JsonObject | undefined): void {
    const { final } = this.#options;
    this.#rights.check(node, head);
    if (head.tag !== FINAL_ANSWER || final === null) return;
    if (sharedId(node.id) !== final) {
      throw new MeshError('packet', `${node.id} tagged a final answer; only ${final} may`);
    }
    if (answerText(payload?.answer) === undefined) {
      throw new MeshError('packet', 'a final answer needs payload {answer} with a text or a number');
    }
  }

  #refuse(sender: Link, reason: string, frameBytes: number): readonly Link[] {
    sender.counts.refusedPackets += 1;
    sender.counts.refusedBytes += frameBytes;
    this.#options.delivery?.took(sender);
    this.#options.observer.refused?.(sender.node.id, reason, frameBytes);
    return [];
  }
}
