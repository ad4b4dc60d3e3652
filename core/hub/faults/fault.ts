/** Deliveries of one direction: from an agent, or the hub, to an agent. Both are ids. */
export interface Route {
  readonly from: string;
  readonly to: string;
}

/** A fault that is decided for each delivery. One without a route concerns all of them. `text` is what the user wrote. */
type DeliveryFault =
  | {
      readonly kind: 'drop' | 'dup' | 'corrupt';
      /** Part of the deliveries, 0 to 1. */
      readonly rate: number;
      readonly route?: Route;
      readonly text: string;
    }
  | {
      readonly kind: 'delay';
      /** Each time from `ms - spreadMs` to `ms + spreadMs` is equally likely. */
      readonly ms: number;
      readonly spreadMs: number;
      readonly route?: Route;
      readonly text: string;
    };

/** A fault with a time of its own, counted from the start of the first task. Agents are ids. */
export type TimedFault =
  | { readonly kind: 'kill'; readonly agent: string; readonly atMs: number; readonly text: string }
  | {
      readonly kind: 'stall';
      readonly agent: string;
      readonly atMs: number;
      readonly forMs: number;
      readonly text: string;
    }
  | {
      readonly kind: 'partition';
      /** What crosses from one group to another is dropped; the hub and agents in no group reach all. */
      readonly groups: readonly (readonly string[])[];
      readonly atMs: number;
      readonly forMs: number;
      readonly text: string;
    };

/** An agent says something false in all its packets of a type. Whoever gets them gets them whole. */
interface LieFault {
  readonly kind: 'lie';
  /** An id. */
  readonly agent: string;
  /** A packet type. */
  readonly type: string;
  readonly text: string;
}

export type Fault = DeliveryFault | TimedFault | LieFault;

export function isTimed(fault: Fault): fault is TimedFault {
  return fault.kind === 'kill' || fault.kind === 'stall' || fault.kind === 'partition';
}
