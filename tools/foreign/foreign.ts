import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { formatIssues, isJsonObject, type JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { parseForeignUrl } from '@gaia-mesh/core/system/outgoing-url.ts';
import * as z from 'zod';

/** What an agent with a tool of somebody else's is asked: which tools there are, or to call one of them. */
export const foreignInput = z.strictObject({
  tool: z.string().min(1).max(128).exactOptional(),
  arguments: z.record(z.string(), z.json()).exactOptional(),
});

/** What it says of itself when it is asked for no tool. */
export const offerSchema = z.strictObject({
  /** With their whole schemas. */
  tools: z.array(
    z.strictObject({
      name: z.string(),
      description: z.string(),
      parameters: z.custom<JsonObject>(isJsonObject),
    }),
  ),
  /** For which the budget of tokens had no room: their schemas are told when somebody asks. */
  deferred: z.array(z.string()),
  /** That cannot be used, each with the reason. */
  refused: z.array(z.string()),
});
export type ForeignOffer = z.infer<typeof offerSchema>;

/** A server of MCP, or an agent of A2A, that is connected. */
export interface ForeignPeer {
  /** What it calls itself. */
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
  /** The trace context (W3C) that the other end is told. */
  readonly traceparent?: string | undefined;
}

/** What came of a call, as far as it was checked. */
export interface ForeignReply {
  readonly texts: readonly string[];
  readonly data?: JsonObject | undefined;
  /** Bytes that say of themselves that they are an image. */
  readonly images: readonly Uint8Array[];
  readonly isError: boolean;
}

/** The address of a peer in a team file; a token in it would be in every log. */
export const foreignUrl = z
  .string()
  .refine(
    (text) => parseForeignUrl(text) !== undefined,
    'must be a URL of http or https, without a user or password',
  );

/** The name of a variable of the environment: a team file says where a secret is, never the secret. */
export const variableName = z
  .string()
  .regex(/^[A-Za-z_]\w{0,127}$/, 'must be the name of a variable of the environment');

/** Options of every tool of somebody else's in a team file. */
export const commonOptions = {
  timeout_s: z.number().positive().max(3600).default(60),
  max_bytes: z
    .int()
    .min(1024)
    .max(64 * 1024 * 1024)
    .default(8 * 1024 * 1024),
  /** Tokens of the descriptions and schemas that a role is shown; what is beyond is deferred. */
  budget_tokens: z.int().min(100).max(100_000).default(4000),
  /** Only these of its tools. */
  tools: z.array(z.string().min(1)).min(1).exactOptional(),
  /** `false`: the user's word that nothing in there costs tokens. */
  asks_models: z.boolean().default(true),
};

/** Options that the team itself gives to each agent. */
const OF_TEAM = ['iterations', 'retry', 'time_s'];

/** @throws MeshError `config`, naming the option */
export function parseForeignOptions<T>(schema: z.ZodType<T>, options: JsonObject, tool: string): T {
  const own = Object.fromEntries(Object.entries(options).filter(([key]) => !OF_TEAM.includes(key)));
  const { success, data, error } = schema.safeParse(own);
  if (!success) throw new MeshError('config', `options of the agent with ${tool}: ${formatIssues(error)}`);
  return data;
}

/** The value of a variable that the team file names. */
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
