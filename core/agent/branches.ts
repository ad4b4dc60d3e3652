import { MeshError } from '../contracts/errors.ts';
import { hashText } from '../contracts/model-exchange.ts';
import { type Packet, TASK_FAILED } from '../contracts/packet.ts';
import type { Emission } from '../contracts/tool.ts';
import type { BranchFile, BranchPacket, BranchReply } from '../recording/branch-file.ts';

/** One agent's part of a task that is a branch. */
interface Part {
  /** Packets that must repeat their recorded payload and have not been sent yet. */
  readonly packets: (BranchPacket & { readonly place: number })[];
  /** Replies of its model that led to them and have not been returned yet. */
  readonly replies: BranchReply[];
}

/**
 * Controls an agent in tasks that are branches of a recorded question: it acts as recorded up to a packet,
 * and on its own from there.
 */
export class Branches {
  readonly #id: string;
  readonly #file: BranchFile;
  readonly #parts = new Map<string, Part>();

  constructor(file: BranchFile, id: string) {
    this.#file = file;
    this.#id = id;
  }

  /**
   * Returns the emission to send instead of `emission`: one of the recorded packets while any are left.
   *
   * @throws MeshError `agent` if the agent departs from the recording
   */
  rewrite(emission: Emission, cause: Packet): Emission {
    const part = this.#partOf(cause.task_id);
    if (part === undefined || part.packets.length === 0 || emission.type === TASK_FAILED) return emission;
    const { keep, instead } = this.#file.tasks[cause.task_id] ?? { keep: 0 };
    const fitting = part.packets.filter(
      ({ type, to, tag }) => type === emission.type && to === emission.to && tag === emission.tag,
    );
    const digest = hashText(JSON.stringify(cause.payload));
    const recorded = fitting.find((packet) => packet.cause === digest) ?? fitting[0];
    if (recorded === undefined) throw this.#departed(emission, part);
    part.packets.splice(part.packets.indexOf(recorded), 1);
    return {
      ...emission,
      payload: recorded.place === keep && instead !== undefined ? instead : recorded.payload,
    };
  }

  /**
   * Returns the model replies from before the branch point; the caller removes those that it returns again.
   * Undefined means that the model is asked from here on.
   */
  repliesOf(taskId: string): BranchReply[] | undefined {
    const replies = this.#partOf(taskId)?.replies ?? [];
    return replies.length === 0 ? undefined : replies;
  }

  #partOf(taskId: string): Part | undefined {
    const branch = this.#file.tasks[taskId];
    if (branch === undefined) return undefined;
    let part = this.#parts.get(taskId);
    if (part === undefined) {
      const isKept = (place: number | null) => place !== null && place <= branch.keep;
      part = {
        packets: this.#file.packets.flatMap((packet, index) =>
          packet.from === this.#id && isKept(index + 1) ? [{ ...packet, place: index + 1 }] : [],
        ),
        replies: (this.#file.replies[this.#id] ?? []).filter(({ leads_to }) => isKept(leads_to)),
      };
      this.#parts.set(taskId, part);
    }
    return part;
  }

  #departed({ type, to }: Emission, { packets }: Part): MeshError {
    const named = (what: { type: string; to?: string | undefined }) =>
      `${what.type}${what.to === undefined ? '' : ` to ${what.to}`}`;
    return new MeshError(
      'agent',
      `${DEPARTED}: ${this.#id} sends ${named({ type, to })} where ${packets.map((packet) => `${named(packet)} (message ${packet.place})`).join(' or ')} was recorded`,
    );
  }
}

/** Prefix of the messages that report a departure from the recording. */
export const DEPARTED = 'not as it was recorded';
