import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { formatIssues, isJsonObject, type JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { parseForeignUrl } from '@gaia-mesh/core/system/outgoing-url.ts';
import * as z from 'zod';

/** The reply to a request that names no tool. */
export const offerSchema = z.strictObject({
  /** Tools with their whole schemas. */
  tools: z.array(
    z.strictObject({
      name: z.string(),
      description: z.string(),
      parameters: z.custom<JsonObject>(isJsonObject),
    }),
  ),
  /** Tools that exceed the token budget; their schemas are sent on request. */
  deferred: z.array(z.string()),
  /** Tools that cannot be used, each with the reason. */
  refused: z.array(z.string()),
});

/** A connected MCP server or A2A agent. */
export interface ForeignPeer {
  /** The name that it gives itself. */
  readonly name: string;
  readonly tools: readonly ForeignPeerTool[];
  readonly refused: readonly string[];
  call(tool: string, args: JsonObject, options: ForeignCall): Promise<ForeignReply>;
  close(): Promise<void>;
}

interface ForeignPeerTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

interface ForeignCall {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** The W3C trace context that is sent to the other end. */
  readonly traceparent?: string | undefined;
}

/** The checked result of a call. */
export interface ForeignReply {
  readonly texts: readonly string[];
  readonly data?: JsonObject | undefined;
  /** Bytes that are declared to be an image. */
  readonly images: readonly Uint8Array[];
  readonly isError: boolean;
  /** The parts of it that could not be kept, each with the reason. */
  readonly lost: readonly string[];
}

/** The URL of a peer in a team file. User and password are refused: they would appear in every log. */
export const foreignUrl = z
  .string()
  .refine(
    (text) => parseForeignUrl(text) !== undefined,
    'must be a URL of http or https, without a user or password',
  );

/** The name of an environment variable: a team file says where a secret is and never contains it. */
export const variableName = z
  .string()
  .regex(/^[A-Za-z_]\w{0,127}$/, 'must be the name of a variable of the environment');

/** Options of every foreign tool in a team file. */
export const commonOptions = {
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
export function parseForeignOptions<T>(schema: z.ZodType<T>, options: JsonObject, tool: string): T {
  const own = Object.fromEntries(Object.entries(options).filter(([key]) => !TEAM_OPTIONS.includes(key)));
  const { success, data, error } = schema.safeParse(own);
  if (!success) throw new MeshError('config', `options of the agent with ${tool}: ${formatIssues(error)}`);
  return data;
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
