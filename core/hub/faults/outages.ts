import type { Link } from '../link.ts';

/** Reason for not reading from a link; see `Link.holdReading`. */
const STALL = 'stall';

/** Temporary outages: agents that are stalled, and groups that are partitioned. */
export class Outages {
  readonly #onResume: (id: string) => void;
  readonly #links = new Map<string, Link>();
  /** Stalled ids; an id appears once for each stall. */
  readonly #stalled: string[] = [];
  readonly #partitions = new Set<readonly (readonly string[])[]>();

  constructor(onResume: (id: string) => void) {
    this.#onResume = onResume;
  }

  /** Handles a link that begins at the start or in place of a lost one. */
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

  /** Stops delivery to agent `id` and reading from it until each stall has been resumed. */
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

  /** Cuts packets between the groups until {@link join} is called with the same value. */
  part(groups: readonly (readonly string[])[]): void {
    this.#partitions.add(groups);
  }

  join(groups: readonly (readonly string[])[]): void {
    this.#partitions.delete(groups);
  }

  /** Ends all outages. */
  end(): void {
    this.#partitions.clear();
    for (const id of [...this.#stalled]) this.resume(id);
  }
}
