import type { PacketHead } from '../contracts/packet.ts';
import type { Link } from './link.ts';

/** Names of the routings that a team file can choose. */
export const ROUTINGS = ['broadcast', 'topic', 'direct'] as const;
export type Routing = (typeof ROUTINGS)[number];

/**
 * Who gets a packet. The hub forwards neighbours with the *same* list (identity, not
 * contents) as one slice: a strategy keeps its lists and makes them anew only in {@link Router.membersChanged}. It is asked once
 * for many packets that differ in id and tokens alone, so it must not look at those.
 */
export interface Router {
  recipients(head: PacketHead, sender: Link): readonly Link[];
  membersChanged(links: readonly Link[]): void;
}

const NOBODY: readonly Link[] = [];

/** Packet types whose subscribers are remembered. A team has a few dozen. */
const MAX_TOPICS = 1000;

/** All but the sender; those not addressed ignore an addressed packet. */
function createBroadcastRouter(): Router {
  const others = new Map<Link, readonly Link[]>();
  // Packets come many at a time from one sender.
  let lastSender: Link | undefined;
  let lastOthers = NOBODY;
  return {
    recipients(_head, sender) {
      if (sender !== lastSender) {
        lastSender = sender;
        lastOthers = others.get(sender) ?? NOBODY;
      }
      return lastOthers;
    },
    membersChanged(links) {
      lastSender = undefined;
      others.clear();
      for (const link of links)
        others.set(
          link,
          links.filter((other) => other !== link),
        );
    },
  };
}

/**
 * A packet goes to the agents that subscribe to its type, as on a bus with topics: whom it is addressed to is not the bus's
 * business, and the others ignore it.
 */
function createTopicRouter(): Router {
  const byTopic = new Map<string, Map<Link, readonly Link[]>>();
  let members: readonly Link[] = [];
  return {
    recipients(head, sender) {
      let topic = byTopic.get(head.type);
      if (topic === undefined) {
        const hearers = members.filter(({ subscribes }) => subscribes.includes(head.type));
        topic = new Map(members.map((link) => [link, hearers.filter((hearer) => hearer !== link)]));
        // What agents invent must not fill the memory.
        if (byTopic.size >= MAX_TOPICS) byTopic.clear();
        byTopic.set(head.type, topic);
      }
      return topic.get(sender) ?? NOBODY;
    },
    membersChanged(links) {
      members = [...links];
      byTopic.clear();
    },
  };
}

/** An addressed packet goes to its addressee alone; one without `to` goes to all but the sender. */
function createDirectRouter(): Router {
  const broadcast = createBroadcastRouter();
  const byId = new Map<string, readonly Link[]>();
  return {
    recipients: (head, sender) =>
      head.to === undefined ? broadcast.recipients(head, sender) : (byId.get(head.to) ?? NOBODY),
    membersChanged(links) {
      broadcast.membersChanged(links);
      byId.clear();
      for (const link of links) byId.set(link.node.id, [link]);
    },
  };
}

export function createRouter(routing: Routing): Router {
  switch (routing) {
    case 'broadcast':
      return createBroadcastRouter();
    case 'topic':
      return createTopicRouter();
    case 'direct':
      return createDirectRouter();
  }
}
