import type { Engine } from './engine.ts';
import type { JsonObject, Packet } from './packet.ts';

/**
 * What an agent does. An agent has exactly one tool (MP-03): it hears packets of the types that the tool accepts,
 * works on each, and sends what comes out. To add one: a file in `tools/`, a line in `tools/registry.ts`.
 */
export interface Tool {
  readonly name: string;
  /** One line for `gaia-mesh list tools`. */
  readonly description: string;
  /** Packet types it works on, unless the team file subscribes the agent to others. */
  readonly accepts: readonly string[];
  /** Packet types it sends. */
  readonly emits: readonly string[];
  /** What its process must be allowed, said by a tool in a file of the user's; for those that ship the registry says it. */
  readonly needs?: ToolNeeds;

  /**
   * Called once before the agent listens: does what the first packet would otherwise wait for, such as loading weights.
   * All agents start at the same time, but a task goes through them one after the other.
   */
  prepare?(context: PrepareContext): Promise<void>;

  /**
   * The work for one packet. Several packets may be worked on at the same time; nothing of one may reach another
   * but through `context`, which belongs to this packet alone.
   *
   * @throws MeshError when the work cannot be done: the task is then reported as failed, with the message
   */
  run(packet: Packet, context: ToolContext): Promise<readonly Emission[]>;
}

/**
 * What an agent's process must be allowed for its tool, beyond the code and its own workspace (Node's permission model). The
 * registry says it, since the launcher needs to know before the tool is loaded.
 */
export interface ToolNeeds {
  /** The files of the tasks: to read them, or also to put new ones beside them. */
  readonly files?: 'read' | 'write';
  /** The store of attempts and gap records. */
  readonly store?: true;
  readonly childProcesses?: true;
  readonly workers?: true;
  /** Connections to services. */
  readonly network?: true;
  /** Variables of the environment that it reads: keys and addresses of services. */
  readonly environment?: readonly string[];
}

/** A packet that a tool wants sent; the agent adds the envelope. */
export interface Emission {
  readonly type: string;
  readonly payload: JsonObject;
  readonly tag?: string;
  readonly to?: string;
  readonly reply_to?: string;
  /** Name of a file in the agent's workspace that records this work. */
  readonly log?: string;
  /** A packet of an earlier run, sent exactly as it was; the rest of this emission is not looked at. */
  readonly recorded?: Packet;
}

/** Where a tool finds itself before the first packet. */
interface PrepareContext {
  readonly engine: Engine;
  /** The agent's own folder. */
  readonly workspace: string;
}

export interface ToolContext {
  readonly engine: Engine;
  /** The agent's own folder. */
  readonly workspace: string;
  /** The folder with the files of this packet's task; it need not exist. Undefined where the run has no files. */
  readonly files: string | undefined;
  /** Where the store is; only for tools that need it. */
  readonly store: string | undefined;
  /** What the team file says to this agent (`options`), as it is there. */
  readonly options: JsonObject;
  /** Agents that this one may ask. */
  readonly partners: readonly Partner[];
  /** The text of the prompt of that name. */
  readonly prompt: (name: string) => string;
  /** Aborted when the task or the run ends before the work does. */
  readonly signal: AbortSignal;
  /** The trace context (W3C) of what this packet causes, for protocols that carry one; absent where the run has no id. */
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

/** Record of the steps of an agent's work, as they happen: a line each, with `task_id`. It is on disk when `record` returns. */
export const TRACE_FILE = 'trace.log';

/** An agent that may be asked. */
export interface Partner {
  readonly id: string;
  readonly tool: string;
  /** Tools of the agents that it may ask in turn: who plans for it needs to know what it can do. Not known of agents started by hand. */
  readonly tools?: readonly string[];
}

export interface AskOptions {
  /** Without it, as long as the task lasts. */
  readonly timeoutMs?: number;
  /** Whoever asks waits no longer once it is aborted. */
  readonly signal?: AbortSignal | undefined;
}

/** Type of the packet that asks an agent with tool `tool`, and of the one that answers. */
export const callType = (tool: string): string => `${tool}.call`;
export const toResultType = (tool: string): string => `${tool}.result`;
