import type { MeshNode } from '../hub/link.ts';
import { type BroadcastTimes, type MeshObserver, silentObserver } from '../hub/mesh-observer.ts';
import type { TaskOutcome } from '../hub/tasks/task-clock.ts';
import type { RunRecord } from '../recording/run-record.ts';
import type { Log } from '../system/log.ts';
import { Sampled } from '../system/sampled.ts';
import { toMicroseconds } from './metrics/metrics.ts';
import type { Scores } from './metrics/metrics-schema.ts';
import { PacketLines } from './packet-lines.ts';

/**
 * Creates an observer that writes every event into a hub's log and its record and passes it on, with refusals
 * sampled. An agent's loss goes to `onLost` instead.
 */
export function createLoggedObserver(
  log: Log,
  record: RunRecord,
  watching: Partial<MeshObserver>,
  onLost: (node: MeshNode, reason: string) => void,
): MeshObserver {
  const observer = { ...silentObserver, ...watching };
  const refusals = new Sampled();
  const lines = new PacketLines(log.append);
  return {
    relayed(batch) {
      if (log.isOpen) lines.add(batch);
      record.relayed(batch);
      observer.relayed(batch);
    },
    broadcast(packet, times, bytes, recipients) {
      const { payload: _payload, ...envelope } = packet;
      log.info({ event: 'broadcast', ...envelope, bytes, recipients, ...broadcastTimes(times) });
      record.broadcast(packet, times, bytes);
      observer.broadcast(packet, times, bytes, recipients);
    },
    refused(node, reason, bytes) {
      const leftOut = refusals.next();
      if (leftOut === undefined) return;
      log.warn({
        event: 'refused',
        from: node,
        reason,
        bytes,
        left_out: leftOut > 0 ? leftOut : undefined,
      });
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

/** Builds the log line of a task that ended. */
export function buildTaskEndLine(
  { taskId, status, answer, reason, elapsedMs, counts }: TaskOutcome,
  scores: Scores,
): object {
  const ended = { event: 'task_ended', task_id: taskId, status, answer, reason };
  return { ...ended, elapsed_ms: toMicroseconds(elapsedMs), ...counts, ...scores };
}
