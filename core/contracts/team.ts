import * as z from 'zod';
import { ROUTINGS } from '../hub/routing.ts';
import { MAX_FRAME_BYTES } from './limits.ts';
import { nodeIdSchema } from './packet.ts';

/** Version of the team file's format. */
const TEAM_VERSION = 1;

/** Delivery guarantees: see `core/hub/delivery/acknowledged.ts`. */
export const DELIVERIES = ['at-most-once', 'acknowledged'] as const;

/** Transports that can carry a team's frames. */
export const TRANSPORTS = ['tcp', 'nats'] as const;

const MAX_PORT = 65_535;
/** Maximum agents of a team: each is a process and a connection of the hub. */
const MAX_AGENTS = 1000;

const portSchema = z.int().min(1).max(MAX_PORT);
const optionsSchema = z
  .record(z.string(), z.json())
  .describe('Handed to the engine as they are, e.g. seed, temperature, num_ctx for Ollama');

const agentSchema = z.strictObject({
  id: z
    .union([z.int().nonnegative(), z.string()])
    .transform(String)
    .pipe(nodeIdSchema)
    .describe(
      'Names the agent: a short name, which is its folder’s too (workspaces/<id>), or a DID, URN or URI',
    ),
  tool: z.string().min(1).describe('The one tool of this agent (gaia-mesh list tools)'),
  port: portSchema
    .optional()
    .describe('Where it listens on 127.0.0.1; without it port_base + its place in the list'),
  subscribes: z
    .array(z.string().min(1))
    .min(1)
    .optional()
    .describe('Packet types it works on, instead of its tool’s'),
  may_call: z.array(nodeIdSchema).optional().describe('Agents it may address; without it, all'),
  may_fail: z.boolean().optional().describe('Whether a task ends when this agent says that it failed (true)'),
  engine: z.string().min(1).optional().describe('Engine of this agent, instead of the team’s'),
  model: z.string().min(1).optional().describe('Model of this agent, instead of the team’s'),
  engine_options: optionsSchema.optional(),
  prompt: z
    .string()
    .min(1)
    .optional()
    .describe('File with the prompt of this agent, instead of its tool’s (relative to the team file)'),
  options: z.record(z.string(), z.json()).optional().describe('Handed to the tool as they are'),
  reason: z.string().optional().describe('Why the team has this agent'),
});

/** Retries for quality, separate from those of the transport. */
const retrySchema = z.strictObject({
  planner: z.int().positive().max(100).optional(),
  researcher: z.int().positive().max(100).optional(),
  expert: z.int().positive().max(100).optional(),
  attempts: z.int().positive().max(100).optional(),
});

/**
 * A team: its agents, the capabilities of each, and how packets travel between them. Each team is one YAML
 * file; adding one needs no code. The names of adapters, tools and engines are resolved where they are
 * loaded.
 */
export const teamSchema = z.strictObject({
  version: z.literal(TEAM_VERSION).describe('Version of this format'),
  name: z.string().regex(/^[a-z0-9][a-z0-9-]*$/, 'must be lower-case letters, digits and -'),
  description: z.string().optional(),
  adapter: z.string().min(1).default('json').describe('Protocol of the packets (gaia-mesh list adapters)'),
  engine: z.string().min(1).default('extractive').describe('What does the thinking (gaia-mesh list engines)'),
  model: z.string().min(1).optional().describe('Model of the engine, where it has one'),
  model_host: z.url().optional().describe('Where the model is served, e.g. http://127.0.0.1:11434'),
  engine_options: optionsSchema.optional(),
  routing: z
    .enum(ROUTINGS)
    .default('broadcast')
    .describe('broadcast: to all others; direct: an addressed packet to its addressee'),
  delivery: z
    .enum(DELIVERIES)
    .default('at-most-once')
    .describe(
      'acknowledged: packets are kept until they are acknowledged, and sent again to agents that come back',
    ),
  transport: z
    .enum(TRANSPORTS)
    .default('tcp')
    .describe('tcp: agents listen on ports of this machine; nats: they are reached over a NATS server'),
  nats_url: z
    .url({ protocol: /^(nats|tls)$/ })
    .optional()
    .describe('The NATS server, without credentials'),
  nats_subject: z
    .string()
    .min(1)
    .optional()
    .describe('What the subjects on the NATS server begin with (gaia)'),
  port_base: portSchema.default(9000).describe('Agent i listens on port_base + i'),
  entry: z
    .union([z.int().nonnegative(), z.string()])
    .transform(String)
    .optional()
    .describe(
      'The agent that works on a task’s document and asks the others; without it, every agent that subscribes to doc_init',
    ),
  document: z
    .enum(['text', 'attachment'])
    .default('text')
    .describe(
      'attachment: the text of the question’s file goes into the document, for teams without file tools',
    ),
  retry: retrySchema.optional().describe('How often a role is asked again when its work is not good enough'),
  use_cache: z.boolean().default(true).describe('Whether answers of earlier runs may be taken (gaia)'),
  final: z
    .union([z.int().nonnegative(), z.string()])
    .transform(String)
    .describe('The agent whose packet tagged final_answer ends a task'),
  scorer: z.string().min(1).default('exact_rouge'),
  limits: z
    .strictObject({
      task_timeout_s: z
        .number()
        .positive()
        .max(86_400)
        // The limit of C-30.
        .default(120),
      max_frame_bytes: z
        .int()
        .min(1024)
        .max(2 ** 31 - 1)
        .default(MAX_FRAME_BYTES),
      iterations: z.int().positive().max(10_000).default(50).describe('Turns of a loop with tools'),
      tokens: z.int().positive().optional().describe('Tokens of one task; beyond it the task fails'),
    })
    .prefault({}),
  agents: z.array(agentSchema).min(1).max(MAX_AGENTS),
});

export type Team = z.infer<typeof teamSchema>;
export type TeamAgent = Team['agents'][number];

interface TeamFault {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Finds faults that the schema cannot express: rules between keys. Each fault names its path. */
export function findTeamFaults(team: Team): TeamFault[] {
  const ids = new Set(team.agents.map(({ id }) => id));
  const faults = [...findIdFaults(team), ...findPortFaults(team)];
  if (team.entry !== undefined && !ids.has(team.entry)) {
    faults.push({ path: ['entry'], message: `there is no agent ${team.entry}` });
  }
  if (!ids.has(team.final)) faults.push({ path: ['final'], message: `there is no agent ${team.final}` });
  team.agents.forEach((agent, index) => {
    const unknown = agent.may_call?.find((id) => !ids.has(id));
    if (unknown !== undefined) {
      faults.push({
        path: ['agents', index, 'may_call'],
        message: `agent ${agent.id} may call ${unknown}, which is not in the team`,
      });
    }
  });
  return faults;
}

function findIdFaults({ agents }: Team): TeamFault[] {
  const seen = new Set<string>();
  const folded = new Map<string, string>();
  return agents.flatMap(({ id }, index): TeamFault[] => {
    const path = ['agents', index, 'id'];
    if (seen.has(id)) return [{ path, message: `agent ${id} is there twice` }];
    seen.add(id);
    // Each agent has a folder of its name, and macOS and Windows ignore case in names.
    const other = folded.get(id.toLowerCase());
    folded.set(id.toLowerCase(), id);
    return other === undefined ? [] : [{ path, message: `agents ${other} and ${id} differ only in case` }];
  });
}

/**
 * Resolves the engine of an agent, with its model, host and options. Models and servers of one engine mean
 * nothing to another, so the team's apply only to agents with the team's engine.
 */
export function resolveEngine(team: Team, agent: TeamAgent) {
  const { engine = team.engine } = agent;
  const isOfTeam = engine === team.engine;
  return {
    engine,
    model: agent.model ?? (isOfTeam ? team.model : undefined),
    host: isOfTeam ? team.model_host : undefined,
    options: agent.engine_options ?? team.engine_options,
  };
}

function findPortFaults(team: Team): TeamFault[] {
  const faults: TeamFault[] = [];
  const ports = new Map<number, string>();
  team.agents.forEach((agent, index) => {
    const port = agent.port ?? team.port_base + index;
    const other = ports.get(port);
    if (other !== undefined) {
      faults.push({
        path: ['agents', index, 'port'],
        message: `agents ${other} and ${agent.id} share port ${port}`,
      });
    }
    ports.set(port, agent.id);
    if (port > MAX_PORT)
      faults.push({ path: ['port_base'], message: `agent ${agent.id} would listen on port ${port}` });
  });
  return faults;
}
