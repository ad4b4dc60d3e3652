import type { Packet } from '../contracts/packet.ts';
import type { Batch } from './batch.ts';
import type { MeshNode } from './link.ts';

/** Monotonic microseconds; see `core/system/clock.ts`. */
export interface BroadcastTimes {
  readonly beganUs: number;
  readonly encodeUs: number;
  readonly forwardedUs: number;
}

/** What was relayed, when it is on its way. */
export type RelayedBatch = Readonly<
  Pick<
    Batch,
    | 'sender'
    | 'packets'
    | 'each'
    | 'size'
    | 'recipients'
    | 'arrivedUs'
    | 'forwardedUs'
    | 'slab'
    | 'start'
    | 'end'
  >
>;

/** What the mesh tells whoever watches. Calls are made between the packets: they must be quick. */
export interface MeshObserver {
  /** Packets were relayed, or had nobody to go to. Told at the end of the event loop's turn, in the order in which they came. */
  relayed(batch: RelayedBatch): void;
  broadcast(packet: Packet, times: BroadcastTimes, frameBytes: number, recipients: number): void;
  refused(node: string, reason: string, frameBytes: number): void;
  agentLost(node: MeshNode, reason: string): void;
}

/** Watches nothing. */
export const silentObserver: MeshObserver = {
  relayed: () => undefined,
  broadcast: () => undefined,
  refused: () => undefined,
  agentLost: () => undefined,
};
