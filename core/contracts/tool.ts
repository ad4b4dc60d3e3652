import type { Engine } from './engine.ts';
import type { JsonObject, Packet } from './packet.ts';

/**
 * Does an agent's work. An agent has exactly one tool (MP-03): it receives packets of the types that the tool
 * accepts, works on each, and sends the results. To add a tool, add a file in `tools/` and a line in
 * `tools/registry.ts`.
 */
export interface Tool {
  readonly name: string;
  /** One line for `gaia-mesh list tools`. */
  readonly description: string;
  /** Packet types it works on, unless the team file subscribes the agent to others. */
  readonly accepts: readonly string[];
  /** Packet types it sends. */
  readonly emits: readonly string[];
  /**
   * Permissions that its process needs, stated by a tool in a file that the user wrote; the registry states
   * them for shipped tools.
   */
  readonly needs?: ToolNeeds;

  /**
   * Does work that the first packet would otherwise wait for, such as loading weights. It is called once
   * before the agent listens. All agents start at the same time, but a task passes through them one after the
   * other.
   */
  prepare?(context: PrepareContext): Promise<void>;

  /**
   * Does the work for one packet. Several packets may be worked on at the same time; they share nothing but
   * `context`, which belongs to this packet alone.
   *
   * @throws MeshError when the work cannot be done: the task is then reported as failed, with the message
   */
  run(packet: Packet, context: ToolContext): Promise<readonly Emission[]>;
}

/**
 * Permissions that an agent's process needs for its tool, beyond the code and its own workspace (Node's
 * permission model). The registry states them, since the launcher needs them before the tool is loaded.
 */
export interface ToolNeeds {
  /** Access to the files of the tasks: reading them, or also adding new ones beside them. */
  readonly files?: 'read' | 'write';
  /** The store of attempts and gap records. */
  readonly store?: true;
  readonly childProcesses?: true | undefined;
  readonly workers?: true;
  /** Connections to services. */
  readonly network?: true | undefined;
  /** Environment variables that it reads: keys and addresses of services. */
  readonly environment?: readonly string[];
}

/** A packet that a tool wants to send; the agent adds the envelope. */
export interface Emission {
  readonly type: string;
  readonly payload: JsonObject;
  readonly tag?: string;
  readonly to?: string;
  readonly reply_to?: string;
  /** Name of a file in the agent's workspace that records this work. */
  readonly log?: string;
  /** A packet of an earlier run to send unchanged; the other fields of this emission are ignored. */
  readonly recorded?: Packet;
}

/** Environment of a tool before the first packet. */
interface PrepareContext {
  readonly engine: Engine;
  /** The agent's own folder. */
  readonly workspace: string;
}

export interface ToolContext {
  readonly engine: Engine;
  /** The agent's own folder. */
  readonly workspace: string;
  /**
   * The folder with the files of this packet's task; it need not exist. Undefined if the run has no files.
   */
  readonly files: string | undefined;
  /** Address of the store; only for tools that need it. */
  readonly store: string | undefined;
  /** `options` of this agent in the team file, unchanged. */
  readonly options: JsonObject;
  /** Agents that this one may ask. */
  readonly partners: readonly Partner[];
  /** Returns the text of the prompt with that name. */
  readonly prompt: (name: string) => string;
  /** Aborted when the task or the run ends before the work does. */
  readonly signal: AbortSignal;
  /**
   * W3C trace context of what this packet causes, for protocols that carry one; absent if the run has no id.
   */
  readonly traceparent?: string;
  /** Counts tokens of the work for this packet (MP-52). */
  readonly countTokens: (count: number) => void;
  /**
   * Asks another agent and waits for its reply: an addressed packet `<tool>.call`, answered by `<tool>.result`.
   *
   * @throws MeshError `agent` when no reply comes in time or it may not be asked; `packet` for a payload that cannot travel
   */
  readonly ask: (partner: string, payload: JsonObject, options?: AskOptions) => Promise<JsonObject>;
  /** Appends one JSON line to a file in the agent's workspace. */
  readonly record: (fileName: string, entry: JsonObject) => void;
}

/**
 * File that records the steps of an agent's work as they happen: one line each, with `task_id`. A step is on
 * disk when `record` returns.
 */
export const TRACE_FILE = 'trace.log';

/** An agent that may be asked. */
export interface Partner {
  readonly id: string;
  readonly tool: string;
  /**
   * Tools of the agents that it may ask in turn: a planner needs to know what the agent can do. Unknown for
   * agents started by hand.
   */
  readonly tools?: readonly string[];
}

export interface AskOptions {
  /** Time limit for the reply; without it, the time left for the task. */
  readonly timeoutMs?: number | undefined;
  /** Aborting it ends the wait for the reply. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Returns the type of the packet that asks an agent with the tool `tool`; {@link toResultType} returns the
 * reply's type.
 */
export const callType = (tool: string): string => `${tool}.call`;
export const toResultType = (tool: string): string => `${tool}.result`;
