import type { Packet } from '../contracts/packet.ts';

type Caused = Pick<Packet, 'id' | 'type' | 'from' | 'to' | 'task_id' | 'reply_to'>;

/** What caused a packet, and whether that is an inference. */
interface Cause {
  readonly cause: string;
  readonly isCauseInferred?: true;
}

/**
 * What caused each packet of a run; packets are added in the order in which they came to the hub. A cause that an agent reports counts
 * if it came before. Where an agent reports none, it is the request that the packet answers, or else the last packet of its task that
 * its sender heard, of the types that it subscribes to if it said which.
 */
export class Causes {
  readonly #ids = new Set<string>();
  readonly #byTask = new Map<string, Pick<Caused, 'id' | 'type' | 'from' | 'to'>[]>();

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  add({ id, type, from, to, task_id }: Caused): void {
    this.#ids.add(id);
    const earlier = this.#byTask.get(task_id) ?? [];
    earlier.push({ id, type, from, ...(to === undefined ? {} : { to }) });
    this.#byTask.set(task_id, earlier);
  }

  /** Undefined where nothing before it can have caused it. */
  of(packet: Caused, reported: string | undefined, subscribes: readonly string[]): Cause | undefined {
    if (reported !== undefined && this.#ids.has(reported)) return { cause: reported };
    const { reply_to: request } = packet;
    if (request !== undefined && this.#ids.has(request)) return { cause: request, isCauseInferred: true };
    const earlier = this.#byTask.get(packet.task_id) ?? [];
    const isHeard = ({ from, to }: Pick<Caused, 'from' | 'to'>) =>
      from !== packet.from && (to === undefined || to === packet.from);
    const last =
      earlier.findLast((other) => isHeard(other) && subscribes.includes(other.type)) ??
      earlier.findLast(isHeard);
    return last && { cause: last.id, isCauseInferred: true };
  }
}
