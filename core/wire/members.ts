import type { Codec, ProtocolAdapter } from '../contracts/adapter.ts';
import { HUB_ID, type JsonValue } from '../contracts/packet.ts';

/**
 * Opens a codec of `adapter` for each of `ids` and for the hub, in this process: they have exchanged offers
 * and can read each other's packets, as after a handshake. `key` stands for all keys that a secret gives;
 * without it they have no secret.
 */
export function openMembers(
  adapter: ProtocolAdapter,
  runId: string,
  ids: readonly string[],
  key: Uint8Array = new Uint8Array(32),
): Map<string, Codec> {
  const all = [HUB_ID, ...ids.filter((id) => id !== HUB_ID)];
  const members = new Map(all.map((self) => [self, adapter.join?.({ runId, self })]));
  const offers = new Map<string, JsonValue>();
  for (const [id, member] of members) if (member !== undefined) offers.set(id, member.offer);
  return new Map(
    all.map((self) => {
      const peer = self === HUB_ID ? '*' : HUB_ID;
      return [
        self,
        (members.get(self) ?? adapter).open({ runId, self, peer, offers, linkKey: key, runKey: key }),
      ];
    }),
  );
}
