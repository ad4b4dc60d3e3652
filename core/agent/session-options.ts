import type { Codec, ProtocolAdapter } from '../contracts/adapter.ts';
import type { Engine } from '../contracts/engine.ts';
import type { JsonObject, Packet } from '../contracts/packet.ts';
import type { Emission, Partner, Tool } from '../contracts/tool.ts';
import type { Listen } from '../transports/transport.ts';
import type { Outbox } from './outbox.ts';
import type { Workspace } from './workspace.ts';

/** Facts about an agent that are the same in every run. */
export interface AgentOptions {
  readonly listen: Listen;
  /** Run secret; if empty, any hub on this machine may connect. */
  readonly secret: string;
  /** Adapter to insist on; if undefined, the agent takes the hub's. */
  readonly adapter: string | undefined;
  readonly resolveAdapter: (name: string) => Promise<ProtocolAdapter>;
  readonly id: string;
  readonly tool: Tool;
  readonly engine: Engine;
  /** Packet types that it works on. */
  readonly subscribes: readonly string[];
  /** Agents that it may ask. */
  readonly partners: readonly Partner[];
  /** `options` of the agent in the team file. */
  readonly options: JsonObject;
  /** The folder of all tasks' files. */
  readonly files: string | undefined;
  /** Address of the store, for a tool that uses it. */
  readonly store: string | undefined;
  /** Returns the text of a prompt. */
  readonly prompt: (name: string) => string;
  readonly workspace: Workspace;
  /**
   * Returns what the agent sends instead of its tool's emission, because of `cause`: a lie, or a packet of a
   * recorded question that is being repeated. Only the payload may differ.
   *
   * @throws MeshError if it has nothing to send
   */
  readonly rewrite?: ((emission: Emission, cause: Packet) => Emission) | undefined;
}

/** Terms that an agent agreed on with the hub, and state that it keeps from one connection to the next. */
export interface SessionTerms {
  readonly codec: Codec;
  readonly maxFrameBytes: number;
  readonly runId: string;
  /** Numbers the agent's packets in the run, because their ids must be unique. */
  readonly numbers: { last: number };
  /** Set for acknowledged delivery. `isLossy`: the hub also expects reports of packets in progress. */
  readonly acknowledged?: { readonly outbox: Outbox; readonly isLossy: boolean };
}
