import { sharedId } from '../../wire/copy-id.ts';
import type { Link } from '../link.ts';

interface Hearer {
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
  alive: readonly Hearer[],
  returning: readonly Hearer[] = [],
): boolean {
  const types = new Set(seen);
  const toCome = new Set<string>();
  const waiting = new Set([...alive, ...returning]);
  for (let before = -1; before !== waiting.size; ) {
    before = waiting.size;
    for (const agent of waiting) {
      const heard = returning.includes(agent) ? toCome : types;
      if (!agent.subscribes.some((type) => heard.has(type))) continue;
      if (sharedId(agent.node.id) === final) return true;
      for (const type of agent.emits) {
        types.add(type);
        toCome.add(type);
      }
      waiting.delete(agent);
    }
  }
  return false;
}
