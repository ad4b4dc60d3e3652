import { FINAL_ANSWER, HUB_ID, type Packet, TASK_FAILED } from '@gaia-mesh/core/contracts/packet.ts';
import type { RecordedPacket, Recording } from '@gaia-mesh/core/recording/recording.ts';
import type { PlannedExchange } from './peers/protocol.ts';

/** One request and the packets in its response; none if the protocol's acknowledgement is the whole response. */
interface Exchange extends PlannedExchange {
  readonly client: string;
  readonly server: string;
}

/**
 * Plans the exchanges that carry a recording through a hub as a request/response protocol would: a packet goes only to the nodes that acted
 * on it, and travels in the response to its cause. One rule holds for every transfer from node a to node b: if b had sent a the packet that
 * this one answers, it travels in that response; otherwise a opens a new exchange with b.
 *
 * @returns exchanges in a playable order: each comes before the exchanges that it caused
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

/** Lists the hops of a packet: every packet of an agent goes up to the hub, and down to each recipient. */
function listHops(from: string, recipients: readonly string[]): (readonly [string, string])[] {
  const down = recipients.filter((to) => to !== HUB_ID).map((to) => [HUB_ID, to] as const);
  return from === HUB_ID ? down : [[from, HUB_ID] as const, ...down];
}

/**
 * Creates a function that infers the recipients of a packet from a recording: the addressee, else the nodes that the packet caused to send
 * something, else the hub if it ends a task, else the sender of its cause.
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

/** Joins the parts of an exchange's key with spaces, which node ids do not contain. */
function joinExchangeKey(client: string, server: string, requestId: string): string {
  return `${client} ${server} ${requestId}`;
}
