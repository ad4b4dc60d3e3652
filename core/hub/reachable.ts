import type { Link } from './link.ts';

/**
 * Whether node `final` can still get something to answer, when packets of the types `seen` have been relayed and only
 * `alive` are left to make more of them. An agent turns any type that it subscribes to into the types that it emits.
 */
export function canReach(
  final: string,
  seen: ReadonlySet<string>,
  alive: readonly {
    node: Pick<Link['node'], 'id'>;
    subscribes: readonly string[];
    emits: readonly string[];
  }[],
): boolean {
  const types = new Set(seen);
  const waiting = new Set(alive);
  for (let before = -1; before !== waiting.size; ) {
    before = waiting.size;
    for (const agent of waiting) {
      if (!agent.subscribes.some((type) => types.has(type))) continue;
      if (agent.node.id === final) return true;
      for (const type of agent.emits) types.add(type);
      waiting.delete(agent);
    }
  }
  return false;
}
