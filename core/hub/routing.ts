import type { PacketHead } from '../contracts/packet.ts';
import type { Link } from './link.ts';

/** Names of the routings that a team file can choose. */
export const ROUTINGS = ['broadcast', 'topic', 'direct'] as const;
export type Routing = (typeof ROUTINGS)[number];

/**
 * Chooses the recipients of a packet. The hub forwards neighbours with the *same* list (identity, not
 * contents) as one slice: a strategy therefore keeps its lists and rebuilds them only in {@link
 * Router.membersChanged}. It is called once for many packets that differ only in id and tokens, so it must
 * not depend on those.
 */
export interface Router {
  recipients(head: PacketHead, sender: Link): readonly Link[];
  membersChanged(links: readonly Link[]): void;
}

const NOBODY: readonly Link[] = [];

/** Maximum packet types whose subscribers are remembered. A team has a few dozen. */
const MAX_TOPICS = 1000;

/** Routes to all agents but the sender; an addressed packet is ignored by the others. */
function createBroadcastRouter(): Router {
  const others = new Map<Link, readonly Link[]>();
  // One sender usually sends many packets in a row.
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
 * Routes a packet to the agents that subscribe to its type, as on a bus with topics. It ignores the address;
 * the other subscribers ignore the packet.
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
        // Types that agents invent must not fill the memory.
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

/** Routes an addressed packet to its addressee alone; one without `to` goes to all but the sender. */
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
