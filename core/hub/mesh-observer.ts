import type { Packet, PacketHead } from '../packet.ts';
import type { MeshNode } from './link.ts';

/** Monotonic microseconds; see `core/clock.ts`. */
export interface RelayedPacket {
  readonly head: PacketHead;
  readonly tool: string;
  readonly frameBytes: number;
  readonly recipients: number;
  readonly arrivedUs: number;
  readonly forwardedUs: number;
}

export interface BroadcastTimes {
  readonly beganUs: number;
  readonly encodeUs: number;
  readonly forwardedUs: number;
}

/** What the mesh tells whoever watches. Calls are made between the packets: they must be quick. */
export interface MeshObserver {
  /** A packet was relayed; called when it has been. */
  packet?(relayed: RelayedPacket): void;
  broadcast?(packet: Packet, times: BroadcastTimes, frameBytes: number, recipients: number): void;
  refused?(node: string, reason: string, frameBytes: number): void;
  agentLost?(node: MeshNode, reason: string): void;
}
