import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import type { Random } from '@gaia-mesh/core/system/random.ts';
import type { Texts } from './texts.ts';

/**
 * One packet of a task before it has ids: its sender and recipient, and the position of the packet that
 * caused it.
 */
export interface Said {
  readonly type: string;
  readonly from: string;
  /** Recipient; without it, the packet is a broadcast. */
  readonly to?: string;
  /** Position of the causing packet in the task's list; -1 for the document that opens the task. */
  readonly cause: number;
  /** True if it answers the packet that caused it. */
  readonly isReply?: boolean;
  readonly payload: JsonObject;
}

export interface Task {
  readonly opening: JsonObject;
  readonly said: readonly Said[];
}

/** A kind of traffic. */
export interface Part {
  readonly name: string;
  readonly about: string;
  readonly tasks: (random: Random, texts: Texts) => readonly Task[];
}
