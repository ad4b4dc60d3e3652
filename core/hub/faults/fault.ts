/** Deliveries of one direction: from an agent or the hub to an agent. Both are ids. */
export interface Route {
  readonly from: string;
  readonly to: string;
}

/**
 * A fault that is decided for each delivery. A fault without a route applies to all deliveries. `text` is the
 * user's input.
 */
type DeliveryFault =
  | {
      readonly kind: 'drop' | 'dup' | 'corrupt';
      /** Fraction of the deliveries, 0 to 1. */
      readonly rate: number;
      readonly route?: Route | undefined;
      readonly text: string;
    }
  | {
      readonly kind: 'delay';
      /** Delays from `ms - spreadMs` to `ms + spreadMs` are equally likely. */
      readonly ms: number;
      readonly spreadMs: number;
      readonly route?: Route | undefined;
      readonly text: string;
    };

/** The process of an agent is killed at a time, counted from the start of the first task. */
interface KillFault {
  readonly kind: 'kill';
  /** Agent id. */
  readonly agent: string;
  readonly atMs: number;
  readonly text: string;
}

/** An agent states something false in all its packets of a type. The packets themselves arrive intact. */
interface LieFault {
  readonly kind: 'lie';
  /** Agent id. */
  readonly agent: string;
  /** Packet type. */
  readonly type: string;
  readonly text: string;
}

export type Fault = DeliveryFault | KillFault | LieFault;
