import type { Codec, ProtocolAdapter } from './adapter.ts';
import { HUB_ID, type JsonValue } from './packet.ts';

/**
 * Opens a codec of `adapter` for each of `ids` and for the hub, in this process: they have exchanged offers and can read what the
 * others write, as if a handshake had been made. Without a secret: keys that only a run knows are all zero.
 */
export function openMembers(
  adapter: ProtocolAdapter,
  runId: string,
  ids: readonly string[],
): Map<string, Codec> {
  const all = [HUB_ID, ...ids.filter((id) => id !== HUB_ID)];
  const members = new Map(all.map((self) => [self, adapter.join?.({ runId, self })]));
  const offers = new Map<string, JsonValue>();
  for (const [id, member] of members) if (member !== undefined) offers.set(id, member.offer);
  const keys = { linkKey: new Uint8Array(32), runKey: new Uint8Array(32) };
  return new Map(
    all.map((self) => {
      const peer = self === HUB_ID ? '*' : HUB_ID;
      return [self, (members.get(self) ?? adapter).open({ runId, self, peer, offers, ...keys })];
    }),
  );
}
