import type { Link } from '../link.ts';

/** Why a link is not read from; see `Link.holdReading`. */
const STALL = 'stall';

/** What is out of order for a time: agents that are stalled, and groups that are parted. */
export class Outages {
  readonly #onResume: (id: string) => void;
  readonly #links = new Map<string, Link>();
  /** An id as often as it is stalled. */
  readonly #stalled: string[] = [];
  readonly #partitions = new Set<readonly (readonly string[])[]>();

  constructor(onResume: (id: string) => void) {
    this.#onResume = onResume;
  }

  /** A link is there, at the start or in the place of one that was lost. */
  admit(link: Link): void {
    this.#links.set(link.node.id, link);
    if (this.isStalled(link.node.id)) link.holdReading(STALL);
  }

  isStalled(id: string): boolean {
    return this.#stalled.includes(id);
  }

  isCut(from: string, to: string): boolean {
    for (const groups of this.#partitions) {
      const ours = groups.find((group) => group.includes(from));
      const theirs = groups.find((group) => group.includes(to));
      if (ours !== undefined && theirs !== undefined && ours !== theirs) return true;
    }
    return false;
  }

  /** Nothing is delivered to agent `id` or read from it until it is resumed as often. */
  stall(id: string): void {
    this.#stalled.push(id);
    this.#links.get(id)?.holdReading(STALL);
  }

  resume(id: string): void {
    const index = this.#stalled.indexOf(id);
    if (index >= 0) this.#stalled.splice(index, 1);
    if (this.isStalled(id)) return;
    this.#links.get(id)?.releaseReading(STALL);
    this.#onResume(id);
  }

  /** Cuts what crosses the groups until {@link join} with the same value. */
  part(groups: readonly (readonly string[])[]): void {
    this.#partitions.add(groups);
  }

  join(groups: readonly (readonly string[])[]): void {
    this.#partitions.delete(groups);
  }

  /** All is in order again. */
  end(): void {
    this.#partitions.clear();
    for (const id of [...this.#stalled]) this.resume(id);
  }
}
