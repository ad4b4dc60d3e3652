import type { Link } from '../link.ts';

interface Subscriber {
  readonly node: Pick<Link['node'], 'id'>;
  readonly subscribes: readonly string[];
  readonly emits: readonly string[];
}

/**
 * Returns true if node `final` can still receive something to answer, when packets of the types `seen` have
 * been relayed and only `alive` are left to produce more. An agent turns any type that it subscribes to into
 * the types that it emits; a `returning` agent has missed the relayed packets and receives only future ones.
 */
export function canReach(
  final: string,
  seen: ReadonlySet<string>,
  alive: readonly Subscriber[],
  returning: readonly Subscriber[] = [],
): boolean {
  const waiting = new Set(findIdleAgents(seen, alive, returning));
  return [...alive, ...returning].some((agent) => agent.node.id === final && !waiting.has(agent));
}

/** Returns the agents that no packet of a subscribed type can reach. */
function findIdleAgents<Agent extends Subscriber>(
  seen: ReadonlySet<string>,
  alive: readonly Agent[],
  returning: readonly Agent[] = [],
): Agent[] {
  const types = new Set(seen);
  const toCome = new Set<string>();
  const waiting = new Set([...alive, ...returning]);
  for (let before = -1; before !== waiting.size; ) {
    before = waiting.size;
    for (const agent of waiting) {
      const heard = returning.includes(agent) ? toCome : types;
      if (!agent.subscribes.some((type) => heard.has(type))) continue;
      for (const type of agent.emits) {
        types.add(type);
        toCome.add(type);
      }
      waiting.delete(agent);
    }
  }
  return [...waiting];
}

/**
 * Returns the agents that prevent an answer when only packets of the types `seen` exist at the start: agents
 * on the way to `final` that wait for types which no other agent emits. Without such an agent it returns the
 * ones that wait for each other; it returns an empty list if an answer can come.
 */
export function findBlockedAgents<Agent extends Subscriber>(
  final: string,
  seen: ReadonlySet<string>,
  agents: readonly Agent[],
): Agent[] {
  if (canReach(final, seen, agents)) return [];
  const waiting = findIdleAgents(seen, agents);
  const onTheWay = new Set(waiting.filter(({ node }) => node.id === final));
  const gaps: Agent[] = [];
  // Iterating over a set includes elements that are added meanwhile.
  for (const agent of onTheWay) {
    const before = waiting.filter(
      (other) => other !== agent && other.emits.some((type) => agent.subscribes.includes(type)),
    );
    if (before.length === 0) gaps.push(agent);
    for (const other of before) onTheWay.add(other);
  }
  return gaps.length > 0 ? gaps : [...onTheWay];
}
