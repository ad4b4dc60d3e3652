import type {
  AdapterSession,
  Codec,
  Membership,
  ProtocolAdapter,
} from '@gaia-mesh/core/contracts/adapter.ts';
import type { JsonValue } from '@gaia-mesh/core/contracts/packet.ts';

/** A run of members who have exchanged their offers, as the handshake does it. */
export class TestRun {
  readonly offers: ReadonlyMap<string, JsonValue>;
  readonly #adapter: ProtocolAdapter;
  readonly #members: ReadonlyMap<string, Membership | undefined>;

  constructor(adapter: ProtocolAdapter, nodes: readonly string[]) {
    this.#adapter = adapter;
    this.#members = new Map(nodes.map((self) => [self, adapter.join?.({ runId: 'test', self })] as const));
    const offers = new Map<string, JsonValue>();
    for (const [node, member] of this.#members) if (member !== undefined) offers.set(node, member.offer);
    this.offers = offers;
  }

  codec(self: string, changes: Partial<AdapterSession> = {}): Codec {
    if (!this.#members.has(self)) throw new Error(`${self} is no member`);
    const key = new Uint8Array(32).fill(7);
    const session = {
      runId: 'test',
      self,
      peer: '*',
      linkKey: key,
      runKey: key,
      offers: this.offers,
      ...changes,
    };
    return (this.#members.get(self) ?? this.#adapter).open(session);
  }
}
