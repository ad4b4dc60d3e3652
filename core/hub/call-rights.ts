import { MeshError } from '../contracts/errors.ts';
import type { PacketHead } from '../contracts/packet.ts';
import type { MeshNode } from './link.ts';

/**
 * Who may address whom (`may_call` of the team file). Whoever was asked may answer: one packet back for each that came, although
 * its own list does not name the asker.
 */
export class CallRights {
  /** Packets that wait for an answer, by asker and asked. */
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

/** No node id has a space. */
function joinPair(asker: string, asked: string): string {
  return `${asker} ${asked}`;
}
