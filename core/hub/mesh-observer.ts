import type { Packet } from '../contracts/packet.ts';
import type { Batch } from './batch.ts';
import type { MeshNode } from './link.ts';

/** Monotonic microseconds; see `core/system/clock.ts`. */
interface BroadcastTimes {
  readonly beganUs: number;
  readonly encodeUs: number;
  readonly forwardedUs: number;
}

/** Receives the events of the mesh. Calls happen between packets, so they must be fast. */
export interface MeshObserver {
  /**
   * Reports packets that were relayed or had no recipient, at the end of the event loop's turn and in order
   * of arrival.
   */
  relayed(batch: Batch): void;
  broadcast(packet: Packet, times: BroadcastTimes, frameBytes: number, recipients: number): void;
  refused(node: string, reason: string, frameBytes: number): void;
  agentLost(node: MeshNode, reason: string): void;
}
