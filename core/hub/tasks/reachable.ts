import type { Link } from '../link.ts';

interface Subscriber {
  readonly node: Pick<Link['node'], 'id'>;
  readonly subscribes: readonly string[];
  readonly emits: readonly string[];
}

/**
 * Whether node `final` can still get something to answer, when packets of the types `seen` have been relayed and only
 * `alive` are left to make more of them. An agent turns any type that it subscribes to into the types that it emits; one that
 * is `returning` has missed what was relayed, and hears what is still to come.
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

/** Those whom nothing reaches that they subscribe to. */
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
 * The agents that keep an answer from coming, when only packets of the types `seen` are there to begin with: those on the way to `final`
 * that wait for types which nobody else emits. Without such an agent, the ones that wait for each other; none where an answer can come.
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
  // A set takes in what is added while it is walked.
  for (const agent of onTheWay) {
    const before = waiting.filter(
      (other) => other !== agent && other.emits.some((type) => agent.subscribes.includes(type)),
    );
    if (before.length === 0) gaps.push(agent);
    for (const other of before) onTheWay.add(other);
  }
  return gaps.length > 0 ? gaps : [...onTheWay];
}
