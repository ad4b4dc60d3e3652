import { FINAL_ANSWER, HUB_ID, type Packet, TASK_FAILED } from '@gaia-mesh/core/contracts/packet.ts';
import type { RecordedPacket, Recording } from '@gaia-mesh/core/recording/recording.ts';

/** One request and what comes back in its response: nothing where the protocol's own acknowledgement is all there is. */
export interface Exchange {
  readonly client: string;
  readonly server: string;
  readonly request: Packet;
  readonly replies: readonly Packet[];
}

/**
 * Plans the exchanges that carry a recording through a hub as a protocol of requests and responses would: a packet goes to those alone who
 * acted on it, and rides in the response to what caused it. One rule holds for every transfer from node a to node b: where b had asked a
 * with the packet that this one answers, it rides in that response; otherwise a opens an exchange of its own with b.
 *
 * @returns exchanges in an order in which they can be played: what a client sends, an exchange before it has caused
 */
export function planExchanges(recording: Recording): readonly Exchange[] {
  const recipientsOf = createActorFinder(recording);
  const open = new Map<string, { client: string; server: string; request: Packet; replies: Packet[] }>();
  for (const entry of recording.packets) {
    const { packet, cause } = entry;
    const answered = packet.reply_to ?? cause ?? '';
    for (const [from, to] of listHops(packet.from, recipientsOf(entry))) {
      const asked = open.get(joinExchangeKey(to, from, answered));
      if (asked === undefined) {
        open.set(joinExchangeKey(from, to, packet.id), {
          client: from,
          server: to,
          request: packet,
          replies: [],
        });
      } else {
        asked.replies.push(packet);
      }
    }
  }
  return [...open.values()];
}

/** From node to node: every packet of an agent goes up to the hub, and down to each recipient. */
function listHops(from: string, recipients: readonly string[]): (readonly [string, string])[] {
  const down = recipients.filter((to) => to !== HUB_ID).map((to) => [HUB_ID, to] as const);
  return from === HUB_ID ? down : [[from, HUB_ID] as const, ...down];
}

/**
 * Whom a packet was for, as far as a recording shows it: who is addressed, else who was caused to send something by it, else the hub
 * where it ends a task, else who sent what caused it.
 */
function createActorFinder(recording: Recording) {
  const nodes = new Set([HUB_ID, ...recording.header.agents.map((agent) => agent.id)]);
  const acted = Map.groupBy(recording.packets, ({ cause }) => cause);
  const senders = new Map(recording.packets.map(({ packet }) => [packet.id, packet.from]));
  return ({ packet, cause }: RecordedPacket): readonly string[] => {
    const { from, to, id } = packet;
    const asker = isTaskEnd(packet) && from !== HUB_ID ? [HUB_ID] : [];
    if (to !== undefined) {
      const named = nodes.has(to) && to !== from ? [to] : [];
      return [...new Set([...named, ...asker])];
    }
    const actors = (acted.get(id) ?? [])
      .map((effect) => effect.packet.from)
      .filter((actor) => actor !== from);
    const known = new Set([...actors, ...asker]);
    if (known.size > 0) return [...known];
    const causer = senders.get(cause ?? '');
    return causer === undefined || causer === from ? [] : [causer];
  };
}

function isTaskEnd({ tag }: Packet): boolean {
  return tag === FINAL_ANSWER || tag === TASK_FAILED;
}

/** No node id has a space. */
function joinExchangeKey(client: string, server: string, requestId: string): string {
  return `${client} ${server} ${requestId}`;
}
