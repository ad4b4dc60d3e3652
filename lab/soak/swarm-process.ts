// Hosts synthetic agents for `soak`, until the channel of the process that started it closes.
// Usage: swarm-process.ts ID:PART …
import { orderSchema, type SwarmEvent } from './swarm.ts';
import { SyntheticAgent } from './synthetic-agent.ts';

const secret = process.env.GAIA_MESH_SECRET ?? '';
const emit = (event: SwarmEvent) => process.send?.(event);
const onViolation = (agent: string, message: string) => emit({ kind: 'violation', agent, message });
const agents = await Promise.all(
  process.argv.slice(2).map((entry) => {
    const [id = '', name] = entry.split(':');
    const part = name === 'first' || name === 'last' ? name : 'filler';
    return SyntheticAgent.listen({ id, secret, part, onViolation });
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
        emit({ kind: 'quiet', sent, rss: process.memoryUsage.rss() });
      });
      break;
    case 'doze':
      agents.find(({ id }) => id === order.agent)?.doze(order.ms);
      break;
  }
});
// No launcher is left to receive events.
process.on('disconnect', () => process.exit(0));
process.on('SIGINT', () => undefined);
emit({ kind: 'listening', ports: Object.fromEntries(agents.map(({ id, port }) => [id, port])) });
