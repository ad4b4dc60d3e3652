import * as z from 'zod';
import { nodeIdSchema } from '../contracts/packet.ts';

const MAX_PORT = 65_535;

const optionsSchema = z.record(z.string(), z.json());

/**
 * Address at which hubs find an agent: a port of this machine (0: any free one), or its name on a NATS
 * server.
 */
const endpointSchema = z.union([
  z.strictObject({ port: z.int().min(0).max(MAX_PORT) }),
  z.strictObject({
    /** URL without credentials; those come with NATS_URL. */
    natsUrl: z.string().optional(),
    /** Prefix of its subjects. */
    subject: z.string(),
  }),
]);

/** A file of the user and the kind of its export. */
const userFileSchema = z.strictObject({ kind: z.enum(['adapter', 'tool', 'engine']), file: z.string() });

/**
 * Everything that one agent needs to start, as one JSON value: it comes over the channel of the launching
 * process, or from what a person typed. It holds no secrets; those are in the agent's environment.
 */
export const agentSpecSchema = z.strictObject({
  id: nodeIdSchema,
  tool: z.string().min(1),
  place: endpointSchema,
  /** Its own folder. */
  workspace: z.string().min(1),
  /** True if it continues with the memory that a dead agent left there. */
  resumes: z.boolean().default(false),
  /** Required protocol; a hub that speaks another one is refused. */
  adapter: z.string().optional(),
  engine: z.strictObject({
    name: z.string(),
    model: z.string().optional(),
    /** URL of the model server. */
    host: z.string().optional(),
    options: optionsSchema.default({}),
    /** Time limit for one request to a model server. */
    timeoutMs: z.number().positive().optional(),
  }),
  /** Packet types that it works on, instead of its tool's. */
  subscribes: z.array(z.string()).optional(),
  /** Agents that it may ask. */
  partners: z
    .array(
      z.strictObject({
        id: nodeIdSchema,
        tool: z.string().min(1),
        /** Tools of the agents that it may ask in turn. */
        tools: z.array(z.string()).readonly().exactOptional(),
      }),
    )
    .default([]),
  /** Options for its tool. */
  options: optionsSchema.default({}),
  /** File with its prompt, instead of its tool's own. */
  prompt: z.string().optional(),
  /** Folder of the tasks' files. */
  files: z.string().optional(),
  /** A file, or the URL of a server. */
  store: z.string().optional(),
  /** File with branches of a recorded question, which its tasks may be. */
  branches: z.string().optional(),
  /** Types of the packets in which it lies, and the seed of the lies. */
  lies: z.strictObject({ types: z.array(z.string()).readonly(), seed: z.int().nonnegative() }).optional(),
  /** Files of the user that it must load: adapters that a hub may choose, its tool, its engine. */
  userFiles: z.array(userFileSchema).default([]),
});

export type UserFile = z.infer<typeof userFileSchema>;

export type AgentSpec = z.input<typeof agentSpecSchema>;
export type AgentEndpoint = z.infer<typeof endpointSchema>;

/** The part of an agent's spec that the team determines; the group that launches it adds its address. */
type AgentSetup = Omit<AgentSpec, 'id' | 'tool' | 'place' | 'workspace' | 'resumes'>;

/**
 * Permissions of an agent's process beyond reading the code and writing its workspace; see
 * `core/run/agents/confinement.ts`.
 */
export interface AgentPermissions {
  /** Files, and folders that end with a separator. */
  readonly reads?: readonly string[];
  readonly writes?: readonly string[];
  readonly childProcesses?: boolean;
  readonly workers?: boolean;
  /** SQLite, which bypasses the permission model when it writes files. */
  readonly store?: boolean;
  /**
   * Connections of its own; without it only those that its hub opens to it, where the machine can enforce
   * that.
   */
  readonly network?: boolean;
  /** Environment variables beyond the plain ones, such as PATH. */
  readonly environment?: readonly string[] | 'all';
}

/** Setup and permissions with which one agent of a team is launched. */
export interface AgentLaunch {
  readonly setup: AgentSetup;
  readonly permissions?: AgentPermissions;
}
