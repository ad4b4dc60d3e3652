import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import type { Random } from '@gaia-mesh/core/system/random.ts';
import type { Texts } from './texts.ts';

/** One packet of a task, before it has ids: whom it is from and to, and which of the task's packets caused it. */
export interface Said {
  readonly type: string;
  readonly from: string;
  /** Without it, everybody hears it. */
  readonly to?: string;
  /** Place in the task's list of the packet that caused it; -1 for the document that opens the task. */
  readonly cause: number;
  /** It answers the packet that caused it. */
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
