import { HUB_ID } from '../../core/contracts/packet.ts';
import type { ImportNotes } from './message.ts';

/** Room is left for a number behind it. */
const MAX_NAME_LENGTH = 200;

/** Gives the senders and recipients of a log ids that agents may have; two different names never share one. */
export class NodeNames {
  readonly #ids = new Map<string, string>();
  readonly #taken = new Set<string>([HUB_ID]);
  readonly #notes: ImportNotes;

  constructor(notes: ImportNotes) {
    this.#notes = notes;
  }

  get ids(): string[] {
    return [...this.#ids.values()];
  }

  has(name: string): boolean {
    return this.#ids.has(name);
  }

  idOf(name: string): string {
    const known = this.#ids.get(name);
    if (known !== undefined) return known;
    const plain = name
      .replaceAll(/[^A-Za-z0-9_.:/#?=&%@+-]+/g, '-')
      .replace(/^[^A-Za-z0-9]+/, '')
      .slice(0, MAX_NAME_LENGTH);
    const base = plain === '' ? 'node' : plain;
    let id = base;
    for (let number = 2; this.#taken.has(id); number++) id = `${base}-${number}`;
    if (id !== name)
      this.#notes.guess(
        'a name that no agent may have: changed',
        '# names that no agent may have: changed',
        `${name} → ${id}`,
      );
    this.#taken.add(id);
    this.#ids.set(name, id);
    return id;
  }
}
