import { DOC_INIT, FINAL_ANSWER, HUB_ID, type Packet, TASK_FAILED } from '../../../core/contracts/packet.ts';
import type { RecordedPacket, Recording } from '../../../core/recording/recording.ts';

/** Who dials whom: through the hub, which serves the agents and calls each; or each agent the others. */
export const TOPOLOGIES = ['hub', 'direct'] as const;
export type Topology = (typeof TOPOLOGIES)[number];

/**
 * What is carried. `recorded`: every delivery that the recording has, as the team's routing made it. `addressed`: what a protocol of
 * requests and responses would do. A packet goes to those alone who acted on it, and rides in the response to what caused it.
 */
export const FITS = ['recorded', 'addressed'] as const;
export type Fit = (typeof FITS)[number];

/** One request and what comes back in its response: nothing where the protocol's own acknowledgement is all there is. */
export interface Exchange {
  readonly client: string;
  readonly server: string;
  readonly request: Packet;
  readonly replies: readonly Packet[];
}

export interface ExchangePlan {
  /** Who takes part, the hub first. */
  readonly nodes: readonly string[];
  /** In an order in which they can be played: what a client sends, it was caused to send by an exchange before. */
  readonly exchanges: readonly Exchange[];
  readonly counts: ExchangeCounts;
}

/** How packets became requests. `transfers = requests + riding`. */
export interface ExchangeCounts {
  readonly packets: number;
  /** Pairs of a packet and an agent, or the hub as who asked, that gets it. */
  readonly deliveries: number;
  /** Packets with more than one recipient: each of these costs a request of its own. */
  readonly broadcasts: number;
  /** Times that a packet went from one node to another. */
  readonly transfers: number;
  readonly requests: number;
  /** Transfers that took no request: they came in the response to the packet that they answer. */
  readonly riding: number;
  /** Requests whose response has no packet: the protocol's own acknowledgement. */
  readonly acknowledged: number;
}

interface PlanOptions {
  readonly topology: Topology;
  readonly fit: Fit;
  /** Agents in all, if more than were recorded: the others hear what is broadcast. */
  readonly agents?: number;
}

/**
 * The exchanges that carry a recording. One rule holds for every transfer of a packet from node a to node b: where b had asked a with
 * the packet that this one answers, it rides in that response; otherwise a opens an exchange of its own with b.
 */
export function exchangesOf(recording: Recording, { topology, fit, agents }: PlanOptions): ExchangePlan {
  const recipientsOf =
    fit === 'recorded' ? recordedRecipients(recording, agents) : actingRecipients(recording);
  const open = new Map<string, { client: string; server: string; request: Packet; replies: Packet[] }>();
  let deliveries = 0;
  let broadcasts = 0;
  let transfers = 0;
  for (const entry of recording.packets) {
    const { packet } = entry;
    const recipients = recipientsOf(entry);
    deliveries += recipients.length;
    if (recipients.length > 1) broadcasts += 1;
    const answered = packet.reply_to ?? (fit === 'addressed' ? entry.cause : null);
    for (const [from, to] of hopsOf(packet.from, recipients, topology)) {
      transfers += 1;
      const asked = open.get(keyOf(to, from, answered ?? ''));
      if (asked === undefined) {
        open.set(keyOf(from, to, packet.id), { client: from, server: to, request: packet, replies: [] });
      } else {
        asked.replies.push(packet);
      }
    }
  }
  const exchanges = [...open.values()];
  return {
    nodes: nodesOf(recording, agents),
    exchanges,
    counts: {
      packets: recording.packets.length,
      deliveries,
      broadcasts,
      transfers,
      requests: exchanges.length,
      riding: transfers - exchanges.length,
      acknowledged: exchanges.filter(({ replies }) => replies.length === 0).length,
    },
  };
}

/** From node to node: every packet of an agent goes up to the hub, and down to each recipient; or straight to each. */
function hopsOf(
  from: string,
  recipients: readonly string[],
  topology: Topology,
): (readonly [string, string])[] {
  if (topology === 'direct') return recipients.map((to) => [from, to] as const);
  const down = recipients.filter((to) => to !== HUB_ID).map((to) => [HUB_ID, to] as const);
  return from === HUB_ID ? down : [[from, HUB_ID] as const, ...down];
}

/** Whom the hub delivered a packet to, by the team's routing; an answer that ends a task also goes to the hub, which asked. */
function recordedRecipients(recording: Recording, agents: number | undefined) {
  const hearers = [...agentIds(recording), ...listenersOf(recording, agents)];
  const actors = actingOnTypes(recording);
  const { routing } = recording.header;
  return ({ packet }: RecordedPacket): readonly string[] => {
    const { from, to, type } = packet;
    const others = hearers.filter((id) => id !== from);
    const asker = endsTask(packet) && from !== HUB_ID ? [HUB_ID] : [];
    if (routing === 'direct' && to !== undefined) return [...addressed(to, others), ...asker];
    if (routing === 'topic' && type !== DOC_INIT) {
      return [...others.filter((id) => actors.get(type)?.has(id)), ...asker];
    }
    return [...others, ...asker];
  };
}

/**
 * Whom a packet was for, as far as a recording shows it: who is addressed, else who was caused to send something by it, else the hub
 * where it ends a task, else who sent what caused it.
 */
function actingRecipients(recording: Recording) {
  const ids = agentIds(recording);
  const acted = Map.groupBy(recording.packets, ({ cause }) => cause);
  const senders = new Map(recording.packets.map(({ packet }) => [packet.id, packet.from]));
  return ({ packet, cause }: RecordedPacket): readonly string[] => {
    const { from, to, id } = packet;
    const asker = endsTask(packet) && from !== HUB_ID ? [HUB_ID] : [];
    if (to !== undefined) {
      const others = addressed(to, ids).filter((other) => other !== from);
      return [...new Set([...others, ...asker])];
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

/** Which agents sent something because of a packet of a type. */
function actingOnTypes({ packets }: Recording): ReadonlyMap<string, ReadonlySet<string>> {
  const typeOf = new Map(packets.map(({ packet }) => [packet.id, packet.type]));
  const actors = new Map<string, Set<string>>();
  for (const { cause, packet } of packets) {
    const type = typeOf.get(cause ?? '');
    if (type === undefined) continue;
    const known = actors.get(type) ?? new Set();
    actors.set(type, known.add(packet.from));
  }
  return actors;
}

/** The recipient of an addressed packet, if it is the hub or one of `hearers`. */
function addressed(to: string, hearers: readonly string[]): readonly string[] {
  return to === HUB_ID ? [HUB_ID] : hearers.filter((id) => id === to);
}

function endsTask({ tag }: Packet): boolean {
  return tag === FINAL_ANSWER || tag === TASK_FAILED;
}

function nodesOf(recording: Recording, agents: number | undefined): string[] {
  return [HUB_ID, ...agentIds(recording), ...listenersOf(recording, agents)];
}

function agentIds({ header }: Recording): string[] {
  return header.agents.map(({ id }) => id);
}

function listenersOf({ header }: Recording, agents = header.agents.length): string[] {
  const count = Math.max(0, agents - header.agents.length);
  return Array.from({ length: count }, (_, index) => `listener-${index + 1}`);
}

/** No node id has a space. */
function keyOf(client: string, server: string, requestId: string): string {
  return `${client} ${server} ${requestId}`;
}
