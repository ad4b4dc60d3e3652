import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { formatIssues, type JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { parseForeignUrl } from '@gaia-mesh/core/system/outgoing-url.ts';
import * as z from 'zod';

/** The URL of a peer in a team file. User and password are refused: they would appear in every log. */
const foreignUrl = z
  .string()
  .refine(
    (text) => parseForeignUrl(text) !== undefined,
    'must be a URL of http or https, without a user or password',
  );

/** The name of an environment variable: a team file says where a secret is and never contains it. */
const variableName = z
  .string()
  .regex(/^[A-Za-z_]\w{0,127}$/, 'must be the name of a variable of the environment');

/** Options of every foreign tool in a team file. */
const commonOptions = {
  timeout_s: z.number().positive().max(3600).default(60),
  max_bytes: z
    .int()
    .min(1024)
    .max(64 * 1024 * 1024)
    .default(8 * 1024 * 1024),
  /** Tokens of the descriptions and schemas that a role is shown; tools beyond that are deferred. */
  budget_tokens: z.int().min(100).max(100_000).default(4000),
  /** Restricts the peer's tools to these. */
  tools: z.array(z.string().min(1)).min(1).exactOptional(),
  /** `false` is the user's assurance that nothing behind the peer costs tokens. */
  asks_models: z.boolean().default(true),
};

/** Options that the team gives to each agent. */
const TEAM_OPTIONS = ['iterations', 'retry', 'time_s'];

/** @throws MeshError `config`, naming the option */
function parseForeignOptions<T>(schema: z.ZodType<T>, options: JsonObject, tool: string): T {
  const own = Object.fromEntries(Object.entries(options).filter(([key]) => !TEAM_OPTIONS.includes(key)));
  const { success, data, error } = schema.safeParse(own);
  if (!success) throw new MeshError('config', `options of the agent with ${tool}: ${formatIssues(error)}`);
  return data;
}

const a2aOptions = z.strictObject({
  ...commonOptions,
  timeout_s: z.number().positive().max(86_400).default(300),
  /** The URL of its agent card, or the URL below which the card is. */
  url: foreignUrl,
  /** The environment variable that holds its token. */
  token: variableName.exactOptional(),
  /** The way in which results arrive; by default as a stream if the agent can, else by polling. */
  later: z.enum(['stream', 'poll', 'push']).exactOptional(),
});

/** @throws MeshError `config` */
export const parseA2aOptions = (options: JsonObject) => parseForeignOptions(a2aOptions, options, 'a2a');

/** Seconds for the start of the server, its handshake and the list of its tools. */
const start_s = z.number().positive().max(600).exactOptional();

const childOptions = z.strictObject({
  ...commonOptions,
  start_s,
  /** A program; `args` are passed to it as they are, without a shell. */
  command: z.string().min(1),
  args: z.array(z.string()).max(100).default([]),
  /** Variables that it gets besides the plain ones, such as PATH. */
  env: z.array(variableName).max(50).default([]),
  /** Allows it to use the network. */
  network: z.boolean().default(false),
});
const urlOptions = z.strictObject({
  ...commonOptions,
  start_s,
  url: foreignUrl,
  /** The environment variable that holds its token. */
  token: variableName.exactOptional(),
});

/** @throws MeshError `config` */
export function parseMcpOptions(
  options: JsonObject,
): z.infer<typeof childOptions> | z.infer<typeof urlOptions> {
  return 'url' in options
    ? parseForeignOptions(urlOptions, options, 'mcp')
    : parseForeignOptions(childOptions, options, 'mcp');
}

/** Returns the value of an environment variable that the team file names. */
export function readVariable(
  name: string,
  environment: Readonly<Record<string, string | undefined>>,
  tool: string,
): string {
  const value = environment[name];
  if (value === undefined || value === '')
    throw new MeshError('config', `${tool}: the team file names the variable ${name}, which is not set`);
  return value;
}
