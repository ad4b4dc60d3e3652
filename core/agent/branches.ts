import { MeshError } from '../contracts/errors.ts';
import { hashText } from '../contracts/model-exchange.ts';
import { type Packet, TASK_FAILED } from '../contracts/packet.ts';
import type { Emission } from '../contracts/tool.ts';
import type { BranchFile, BranchPacket, BranchReply } from '../recording/branch-file.ts';

/** One agent's part of a task that is a branch. */
interface Part {
  /** Its packets that say what they said, and have not been sent again. */
  readonly packets: (BranchPacket & { readonly place: number })[];
  /** Replies of its model that led to them, and have not been given again. */
  readonly replies: BranchReply[];
}

/** What an agent does in tasks that are branches of a recorded question: as recorded up to a packet, and by itself from there. */
export class Branches {
  readonly #id: string;
  readonly #file: BranchFile;
  readonly #parts = new Map<string, Part>();

  constructor(file: BranchFile, id: string) {
    this.#file = file;
    this.#id = id;
  }

  /**
   * What is sent for `emission`: while packets of this agent's are to say what they said, one of them.
   *
   * @throws MeshError `agent` where it does something else than was recorded
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

  /** Replies that a model gave before the branch; what is given again is taken out. Undefined: from here on, it is asked. */
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

/** How messages of the cause begin for which a branch is none. */
export const DEPARTED = 'not as it was recorded';
