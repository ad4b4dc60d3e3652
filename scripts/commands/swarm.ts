import { MeshError } from '../../core/errors.ts';
import { listOf } from '../option-values.ts';
import { type News, orderSchema } from '../soak/swarm-messages.ts';
import { SyntheticAgent, type SyntheticOptions } from '../soak/synthetic-agent.ts';

/** Hosts synthetic agents for `soak` and `scale`, until the channel of whoever started it closes. */
export async function swarm(options: { readonly agents: string }): Promise<void> {
  if (process.send === undefined) throw new MeshError('usage', 'swarm is started by soak and scale');
  const secret = process.env.GAIA_MESH_SECRET ?? '';
  const tell = (news: News) => process.send?.(news);
  const onViolation = (agent: string, message: string) => tell({ kind: 'violation', agent, message });
  const agents = await Promise.all(
    listOf(options.agents).map((entry) => {
      const [id = '', part = ''] = entry.split(':');
      return SyntheticAgent.listen({ id, secret, part: partNamed(part), onViolation });
    }),
  );
  process.on('message', (message) => {
    const order = orderSchema.parse(message);
    switch (order.kind) {
      case 'flood':
        for (const agent of agents) void agent.set(order);
        break;
      case 'quiet':
        void Promise.all(agents.map((agent) => agent.set(undefined))).then(() => {
          const sent = Object.fromEntries(agents.map((agent) => [agent.id, agent.sent]));
          tell({ kind: 'quiet', sent, rss: process.memoryUsage.rss() });
        });
        break;
      case 'doze':
        agents.find(({ id }) => id === order.agent)?.doze(order.ms);
        break;
    }
  });
  // Nobody is left to say anything to.
  process.on('disconnect', () => process.exit(0));
  process.on('SIGINT', () => undefined);
  tell({ kind: 'listening', ports: Object.fromEntries(agents.map(({ id, port }) => [id, port])) });
}

function partNamed(name: string): SyntheticOptions['part'] {
  return name === 'first' || name === 'last' ? name : 'filler';
}
