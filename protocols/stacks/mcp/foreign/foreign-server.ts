import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import {
  formatIssues,
  isJsonObject,
  type JsonObject,
  shortenReason,
} from '@gaia-mesh/core/contracts/packet.ts';
import type { Client, Transport } from '@modelcontextprotocol/client';
import * as z from 'zod';
import { createBoundedFetch } from '../../http/bounded-fetch.ts';
import { MCP_REVISION } from '../revision.ts';
import { loadClient } from '../sdk/sdk.ts';
import { type ChildCommand, ChildTransport } from './child-transport.ts';

/** Address of a foreign server. */
export type ForeignServerEndpoint =
  | ChildCommand
  | { readonly url: string; readonly token?: string | undefined; readonly maxMessageBytes: number };

/** The checked part of a tool's description. */
interface ForeignTool {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema of an object, of a bounded size. */
  readonly inputSchema: JsonObject;
}

interface CallOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly traceparent?: string | undefined;
}

interface ForeignServer {
  readonly name: string;
  readonly tools: readonly ForeignTool[];
  /** Names of tools that cannot be used, each with the reason. */
  readonly refused: readonly string[];
  /** @throws MeshError `tool` for a call that was refused or took too long, `agent` for a server that is gone */
  call(name: string, args: JsonObject, options: CallOptions): Promise<ForeignResult>;
  close(): Promise<void>;
}

const PURPOSE = 'tool: mcp';
/** Maximum time for the handshake and the list of tools; `npx` may have to fetch the server first. */
const CONNECT_TIMEOUT_MS = 60_000;
const MAX_PAGES = 20;
const MAX_TOOLS = 500;
const MAX_SCHEMA_BYTES = 64 * 1024;
const MAX_DESCRIPTION = 4000;

const objectSchema = z.custom<JsonObject>(isJsonObject, 'must be an object');
const pageSchema = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });
const toolSchema = z.looseObject({
  name: z
    .string()
    .regex(/^[\w./-]{1,128}$/, 'has a name of other characters than letters, digits and _ . / -'),
  description: z.string().default(''),
  inputSchema: objectSchema.refine((schema) => schema.type === 'object', 'must be a schema of an object'),
});

const text = z.string();
const contentSchema = z.union([
  z.looseObject({ type: z.literal('text'), text }),
  z.looseObject({ type: z.literal(['image', 'audio']), data: z.base64(), mimeType: text.max(128) }),
  z.looseObject({
    type: z.literal('resource'),
    resource: z.looseObject({
      uri: text,
      mimeType: text.optional(),
      text: text.optional(),
      blob: text.optional(),
    }),
  }),
  z.looseObject({ type: z.literal('resource_link'), uri: text, name: text.optional() }),
]);
const resultSchema = z.looseObject({
  content: z.array(contentSchema).default([]),
  structuredContent: objectSchema.optional(),
  isError: z.boolean().default(false),
});
export type ForeignResult = z.infer<typeof resultSchema>;

/**
 * Connects to a server by the official SDK, lists its tools, and keeps those that can be used. Names,
 * schemas, sizes and shapes are untrusted until they are checked.
 *
 * @throws MeshError `config` if the SDK is missing or the server cannot be started, `agent` if the session
 * fails
 */
export async function connectForeign(
  endpoint: ForeignServerEndpoint,
  signal: AbortSignal,
): Promise<ForeignServer> {
  const { Client } = await loadClient(PURPOSE);
  const attempt = async (options: object) => {
    const client = new Client({ name: 'gaia-mesh', version: '1' }, options);
    const transport = await openTransport(endpoint);
    try {
      await client.connect(transport, { timeout: CONNECT_TIMEOUT_MS, signal });
      return client;
    } catch (cause) {
      await client.close().catch(() => undefined);
      if (cause instanceof MeshError) throw cause;
      const words = transport instanceof ChildTransport ? transport.lastWords.trim() : '';
      const said = words === '' ? '' : `; it said: ${words}`;
      throw new MeshError('agent', `MCP: no session: ${shortenReason(`${toErrorMessage(cause)}${said}`)}`, {
        cause,
      });
    }
  };
  // Nearly all servers still speak 2025-11-25 or earlier; one that speaks only the latest revision refuses
  // the first attempt.
  const client = await attempt({}).catch(async (error: unknown) => {
    if (signal.aborted || (error instanceof MeshError && error.code === 'config')) throw error;
    return attempt({ versionNegotiation: { mode: { pin: MCP_REVISION } } }).catch(() => {
      throw error;
    });
  });
  try {
    const { tools, refused } = await listTools(client, signal);
    return {
      name: client.getServerVersion()?.name ?? 'unnamed',
      tools,
      refused,
      call: (name, args, options) => call(client, name, args, options),
      close: () => client.close(),
    };
  } catch (error) {
    await client.close().catch(() => undefined);
    throw error;
  }
}

async function openTransport(endpoint: ForeignServerEndpoint): Promise<Transport> {
  if (!('url' in endpoint)) return new ChildTransport(endpoint);
  const { StreamableHTTPClientTransport } = await loadClient(PURPOSE);
  const { url, token, maxMessageBytes } = endpoint;
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  return new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers },
    fetch: createBoundedFetch(url, maxMessageBytes),
  });
}

async function listTools(client: Client, signal: AbortSignal) {
  const tools: ForeignTool[] = [];
  const refused: string[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const { success, data, error } = pageSchema.safeParse(
      await translateErrors('tools/list', () =>
        client.request({ method: 'tools/list', params }, pageSchema, { timeout: CONNECT_TIMEOUT_MS, signal }),
      ),
    );
    if (!success) throw new MeshError('packet', `MCP: tools/list: ${formatIssues(error)}`);
    for (const said of data.tools) {
      if (tools.length + refused.length >= MAX_TOOLS) {
        refused.push(`more than ${MAX_TOOLS} tools`);
        return { tools, refused };
      }
      const tool = parseTool(said);
      if (typeof tool === 'string') refused.push(tool);
      else if (tools.some(({ name }) => name === tool.name)) refused.push(`${tool.name}: comes twice`);
      else tools.push(tool);
    }
    cursor = data.nextCursor;
    if (cursor === undefined) return { tools, refused };
  }
  refused.push(`more than ${MAX_PAGES} pages of tools`);
  return { tools, refused };
}

function parseTool(said: unknown): ForeignTool | string {
  const { success, data, error } = toolSchema.safeParse(said);
  const shown = String(Object(said).name).slice(0, 64);
  if (!success) return `${shown}: ${formatIssues(error)}`;
  const { name, description, inputSchema } = data;
  const bytes = Buffer.byteLength(JSON.stringify(inputSchema));
  if (bytes > MAX_SCHEMA_BYTES)
    return `${shown}: its schema has ${bytes} bytes; the maximum is ${MAX_SCHEMA_BYTES}`;
  return { name, description: description.toWellFormed().slice(0, MAX_DESCRIPTION), inputSchema };
}

async function call(
  client: Client,
  name: string,
  args: JsonObject,
  { signal, timeoutMs, traceparent }: CallOptions,
): Promise<ForeignResult> {
  // MCP, 2026-07-28, basic/index: the trace context travels in `_meta`.
  const meta = traceparent === undefined ? {} : { _meta: { traceparent } };
  const request = { method: 'tools/call', params: { name, arguments: args, ...meta } } as const;
  // The result is taken unchecked, as the SDK's own check compiles any schema that the server gave.
  const result = await translateErrors(name, () =>
    client.request(request, z.looseObject({}), { signal, timeout: timeoutMs, maxTotalTimeout: timeoutMs }),
  );
  const { success, data, error } = resultSchema.safeParse(result);
  if (!success) throw new MeshError('tool', `MCP: the result of ${name}: ${formatIssues(error)}`);
  return data;
}

async function translateErrors<T>(what: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (cause) {
    if (cause instanceof MeshError) throw cause;
    const isLost = /closed|not connected|fetch failed/i.test(toErrorMessage(cause));
    throw new MeshError(isLost ? 'agent' : 'tool', `MCP: ${what}: ${shortenReason(toErrorMessage(cause))}`, {
      cause,
    });
  }
}
