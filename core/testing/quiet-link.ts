import { onTestFinished } from 'vitest';
import { Link } from '../hub/link.ts';
import type { FrameSocket } from '../transports/tcp/frame-socket.ts';
import { loopback } from './loopback.ts';
import { plain } from './mesh.ts';

/**
 * Returns the hub's link to an agent that sends nothing, over a real connection, and the agent's end. Both
 * end with the test.
 */
export async function quietLink(
  id: string,
  subscribes: readonly string[] = [],
): Promise<{ link: Link; agent: FrameSocket }> {
  const { hub, agent } = await loopback();
  onTestFinished(() => {
    hub.destroy();
    agent.destroy();
  });
  const keys = { linkKey: new Uint8Array(32), runKey: new Uint8Array(32) };
  const codec = plain.open({ runId: 'test', self: 'hub', peer: id, offers: new Map(), ...keys });
  const node = { id, tool: 'none', port: 0, secret: '' };
  return { link: new Link(node, hub, () => codec, { subscribes, emits: [], done: [] }), agent };
}
