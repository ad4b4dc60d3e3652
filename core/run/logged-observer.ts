import type { MeshNode } from '../hub/link.ts';
import type { BroadcastTimes, MeshObserver } from '../hub/mesh-observer.ts';
import type { Log } from '../log.ts';

/** Whoever watches a mesh, with a hub's log that has everything they are told. An agent's loss goes to `onLost` instead. */
export function loggedObserver(
  log: Log,
  observer: MeshObserver,
  onLost: (node: MeshNode, reason: string) => void,
): MeshObserver {
  return {
    broadcast(packet, times, bytes, recipients) {
      const { payload: _payload, ...envelope } = packet;
      log.info({ event: 'broadcast', ...envelope, bytes, recipients, ...broadcastTimes(times) });
      observer.broadcast?.(packet, times, bytes, recipients);
    },
    packet(relayed) {
      const { head, frameBytes, recipients, arrivedUs, forwardedUs } = relayed;
      const times = { arrived_us: Math.round(arrivedUs), forwarded_us: Math.round(forwardedUs) };
      log.info({ event: 'packet', ...head, bytes: frameBytes, recipients, ...times });
      observer.packet?.(relayed);
    },
    refused(node, reason, bytes) {
      log.warn({ event: 'refused', from: node, reason, bytes });
      observer.refused?.(node, reason, bytes);
    },
    agentLost(node, reason) {
      log.warn({ event: 'agent_lost', id: node.id, tool: node.tool, reason });
      onLost(node, reason);
    },
  };
}

function broadcastTimes({ beganUs, encodeUs, forwardedUs }: BroadcastTimes): Record<string, number> {
  return {
    began_us: Math.round(beganUs),
    encode_us: Math.round(encodeUs),
    forwarded_us: Math.round(forwardedUs),
  };
}
