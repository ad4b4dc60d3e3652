import type { MeshNode } from '../hub/link.ts';
import { type BroadcastTimes, type MeshObserver, silentObserver } from '../hub/mesh-observer.ts';
import type { Log } from '../system/log.ts';
import { PacketLines } from './packet-lines.ts';

/** A hub's log that has all that an observer is told, and passes it on. An agent's loss goes to `onLost` instead. */
export function loggedObserver(
  log: Log,
  watching: Partial<MeshObserver>,
  onLost: (node: MeshNode, reason: string) => void,
): MeshObserver {
  const observer = { ...silentObserver, ...watching };
  const lines = new PacketLines(log.append);
  return {
    relayed(batch) {
      if (log.isOpen) lines.add(batch);
      observer.relayed(batch);
    },
    broadcast(packet, times, bytes, recipients) {
      const { payload: _payload, ...envelope } = packet;
      log.info({ event: 'broadcast', ...envelope, bytes, recipients, ...broadcastTimes(times) });
      observer.broadcast(packet, times, bytes, recipients);
    },
    refused(node, reason, bytes) {
      log.warn({ event: 'refused', from: node, reason, bytes });
      observer.refused(node, reason, bytes);
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
