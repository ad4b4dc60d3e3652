import type { Codec } from '../contracts/adapter.ts';
import type { Engine } from '../contracts/engine.ts';
import type { JsonObject, Packet } from '../contracts/packet.ts';
import type { Emission, Partner, Tool } from '../contracts/tool.ts';
import type { Outbox } from './outbox.ts';
import type { Workspace } from './workspace.ts';

/**
 * What an agent sends instead of what its tool says, because of `cause`: where it was told to lie, or goes again through a question that was
 * recorded. Only the payload may be another.
 *
 * @throws MeshError where it cannot be told
 */
export type Rewrite = (emission: Emission, cause: Packet) => Emission;

/** What an agent is, whichever run it takes part in. */
export interface SessionOptions {
  readonly id: string;
  readonly tool: Tool;
  readonly engine: Engine;
  /** Packet types that it works on. */
  readonly subscribes: readonly string[];
  /** Agents that it may ask. */
  readonly partners: readonly Partner[];
  /** What the team file says to it. */
  readonly options: JsonObject;
  /** The folder of all tasks' files. */
  readonly files: string | undefined;
  /** Where the store is, for a tool that has to do with it. */
  readonly store: string | undefined;
  /** The text of a prompt. */
  readonly prompt: (name: string) => string;
  readonly workspace: Workspace;
  readonly rewrite?: Rewrite;
}

/** What an agent agreed on with the hub, and what it takes along from one connection to the next. */
export interface SessionTerms {
  readonly codec: Codec;
  readonly maxFrameBytes: number;
  readonly runId: string;
  /** Counts the agent's packets in the run: their ids are unique in it. */
  readonly numbers: { last: number };
  /** Where deliveries are acknowledged. `isLossy`: the hub wants to know of packets that are worked on, too. */
  readonly acknowledged?: { readonly outbox: Outbox; readonly isLossy: boolean };
}
