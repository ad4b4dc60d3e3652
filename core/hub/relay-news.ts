import type { PacketHead } from '../packet.ts';
import type { MeshObserver, RelayedPacket } from './mesh-observer.ts';
import type { RelayTimes } from './relay.ts';

/** The packets of the frames that are being relayed, until whoever watches is told of them. */
export class RelayNews {
  readonly #observer: MeshObserver;
  readonly #packets: Omit<RelayedPacket, keyof RelayTimes>[] = [];

  constructor(observer: MeshObserver) {
    this.#observer = observer;
  }

  add(packet: Omit<RelayedPacket, keyof RelayTimes>): void {
    this.#packets.push(packet);
  }

  /** Of the packet that was judged last, unless it was refused or is not to be relayed. */
  get last(): PacketHead | undefined {
    return this.#packets.at(-1)?.head;
  }

  /** Whoever watches is told when the packets are on their way. */
  tell(times: RelayTimes): void {
    if (this.#packets.length === 0) return;
    for (const packet of this.#packets.splice(0)) this.#observer.packet?.({ ...packet, ...times });
  }
}
