import * as z from 'zod';
import { nodeIdSchema } from '../contracts/node-id.ts';

const MAX_PORT = 65_535;

const optionsSchema = z.record(z.string(), z.json());

/** Where hubs find an agent: on a port of this machine (0: any free one), or by its name on a NATS server. */
const endpointSchema = z.union([
  z.strictObject({ port: z.int().min(0).max(MAX_PORT) }),
  z.strictObject({
    /** Without credentials; those come with NATS_URL. */
    natsUrl: z.string().optional(),
    /** What its subjects begin with. */
    subject: z.string(),
  }),
]);

/** A file of the user's, and what it is to export. */
const userFileSchema = z.strictObject({ kind: z.enum(['adapter', 'tool', 'engine']), file: z.string() });

/**
 * All that one agent is told when it starts, as one JSON value: over the channel of the process that launches it, or made of
 * what a person typed. Secrets are not in it; they are in its environment.
 */
export const agentSpecSchema = z.strictObject({
  id: nodeIdSchema,
  tool: z.string().min(1),
  place: endpointSchema,
  /** Its own folder. */
  workspace: z.string().min(1),
  /** Whether it goes on with the memory that an agent left there which died. */
  resumes: z.boolean().default(false),
  /** A hub that speaks another protocol is refused. */
  adapter: z.string().optional(),
  engine: z.strictObject({
    name: z.string(),
    model: z.string().optional(),
    /** Where the model is served. */
    host: z.string().optional(),
    options: optionsSchema.default({}),
    /** For one request to a model server. */
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
  branches: z.string().exactOptional(),
  /** What it is to lie about, in packets of which types. */
  lies: z
    .strictObject({ types: z.array(z.string()).readonly(), seed: z.int().nonnegative() })
    .exactOptional(),
  /** Files of the user's that it must load: adapters that a hub may choose, its tool, its engine. */
  userFiles: z.array(userFileSchema).default([]),
});

export type UserFile = z.infer<typeof userFileSchema>;

export type AgentSpec = z.input<typeof agentSpecSchema>;
export type AgentEndpoint = z.infer<typeof endpointSchema>;

/** What whoever knows the team says about an agent; the group that launches it adds where it is. */
type AgentSetup = Omit<AgentSpec, 'id' | 'tool' | 'place' | 'workspace' | 'resumes'>;

/** What an agent's process may do beyond reading the code and writing its workspace; see `core/run/agents/confinement.ts`. */
export interface AgentPermissions {
  /** Files, and folders that end with a separator. */
  readonly reads?: readonly string[];
  readonly writes?: readonly string[];
  readonly childProcesses?: boolean;
  readonly workers?: boolean;
  /** SQLite, which writes files past the permission model. */
  readonly store?: boolean;
  /** Connections of its own; without it, only what its hub opens to it, where the machine can see to that. */
  readonly network?: boolean;
  /** Variables of the environment beside the plain ones, such as PATH. */
  readonly environment?: readonly string[] | 'all';
}

/** How one agent of a team is launched. */
export interface AgentLaunch {
  readonly setup: AgentSetup;
  readonly permissions?: AgentPermissions;
}
