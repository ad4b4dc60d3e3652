import path from 'node:path';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import {
  formatIssues,
  isJsonObject,
  type JsonObject,
  shortenReason,
} from '@gaia-mesh/core/contracts/packet.ts';
import { withPackage } from '@gaia-mesh/core/system/optional-package.ts';
import type { Client, Transport } from '@modelcontextprotocol/client';
import * as z from 'zod';
import { readEvents } from '../../http/event-stream.ts';
import { MCP_REVISION } from '../revision.ts';
import { type ChildCommand, ChildTransport } from './child-transport.ts';
import { createForeignFetch, NO_ANSWER, readForeignResult } from './foreign-messages.ts';

/** Address of a foreign server. */
type ForeignServerEndpoint = (ChildCommand | ForeignServerUrl) & {
  /** Time for the handshake and the list of tools; by default short, unless the server may have to be fetched. */
  readonly startMs?: number | undefined;
};

interface ForeignServerUrl {
  readonly url: string;
  readonly token?: string | undefined;
  readonly maxMessageBytes: number;
}

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
  /** The entries of `tools/list` as they came. */
  readonly listed: readonly unknown[];
  /** Names of tools that cannot be used, each with the reason. */
  readonly refused: readonly string[];
  /** @throws MeshError `tool` for a call that was refused or took too long, `agent` for a server that has ended */
  call(name: string, args: JsonObject, options: CallOptions): Promise<ReturnType<typeof readForeignResult>>;
  close(): Promise<void>;
}

/** Maximum time for the handshake and the list of tools: of a server that is there, and of one that is fetched first. */
const CONNECT_TIMEOUT_MS = 15_000;
const FETCH_TIMEOUT_MS = 60_000;
/** Commands that may have to fetch the server before they start it. */
const FETCHERS = /^(?:npx|npm|pnpm|yarn|bunx?|deno|uvx?|pipx|docker|podman)(?:\.cmd|\.exe)?$/;
/** Time for the question whether a server speaks the transport of 2024. */
const PROBE_TIMEOUT_MS = 3_000;
const MAX_PAGES = 20;
const MAX_TOOLS = 500;
const MAX_SCHEMA_BYTES = 64 * 1024;
const MAX_DESCRIPTION = 4000;

const objectSchema = z.custom<JsonObject>(isJsonObject, 'must be an object');
const pageSchema = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().nullish() });
const toolSchema = z.looseObject({
  name: z
    .string()
    .regex(/^[\w./-]{1,128}$/, 'has a name of other characters than letters, digits and _ . / -'),
  description: z.string().nullish(),
  // A schema that is left out, or says of no type, is one of an object: there is no other.
  inputSchema: objectSchema
    .nullish()
    .transform((schema): JsonObject => ({ ...schema, type: schema?.type ?? 'object' }))
    .refine((schema) => schema.type === 'object', 'must be a schema of an object'),
});

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
  const { Client, SdkError, SdkErrorCode } = await loadSdk();
  const isFetched = 'command' in endpoint && FETCHERS.test(path.basename(endpoint.command));
  const timeoutMs = endpoint.startMs ?? (isFetched ? FETCH_TIMEOUT_MS : CONNECT_TIMEOUT_MS);
  const attempt = async (options: object) => {
    const client = new Client({ name: 'gaia-mesh', version: '1' }, options);
    const transport = await openTransport(endpoint);
    try {
      await client.connect(transport, { timeout: timeoutMs, signal });
      return client;
    } catch (cause) {
      await client.close().catch(() => undefined);
      if (cause instanceof MeshError)
        throw new MeshError(cause.code, `MCP: no session: ${cause.message.replace(/^MCP: /, '')}`, { cause });
      const words = transport instanceof ChildTransport ? transport.lastWords.trim() : '';
      const said = words === '' ? '' : `; it said: ${words}`;
      const isSilent = cause instanceof SdkError && cause.code === SdkErrorCode.RequestTimeout;
      const why = isSilent ? `no answer within ${timeoutMs / 1000} s` : describeLoss(cause, endpoint);
      const isOld = 'url' in endpoint && !isSilent && (await speaksSse(endpoint));
      if (isOld)
        throw new MeshError(
          'config',
          `MCP: ${endpoint.url} speaks the HTTP+SSE of 2024-11-05, which is not supported: name a server with Streamable HTTP`,
          { cause },
        );
      // A server that is silent once is not asked again.
      throw new MeshError(
        isSilent ? 'limit' : 'agent',
        `MCP: no session: ${shortenReason(`${why}${said}`)}`,
        {
          cause,
        },
      );
    }
  };
  // Nearly all servers still speak 2025-11-25 or earlier; one that speaks only the latest revision refuses
  // the first attempt.
  const client = await attempt({}).catch(async (error: unknown) => {
    if (signal.aborted || !(error instanceof MeshError) || error.code !== 'agent') throw error;
    return attempt({ versionNegotiation: { mode: { pin: MCP_REVISION } } }).catch(() => {
      throw error;
    });
  });
  try {
    const { listed, tools, refused } = await listTools(client, { timeout: timeoutMs, signal });
    return {
      name: client.getServerVersion()?.name ?? 'unnamed',
      tools,
      listed,
      refused,
      call: (name, args, options) => call(client, name, args, options),
      close: () => client.close(),
    };
  } catch (error) {
    await client.close().catch(() => undefined);
    throw error;
  }
}

/** @throws MeshError `config` if the package is not installed */
function loadSdk() {
  return withPackage(
    '@modelcontextprotocol/client@2',
    'tool: mcp',
    () => import('@modelcontextprotocol/client'),
  );
}

async function openTransport(endpoint: ForeignServerEndpoint): Promise<Transport> {
  if (!('url' in endpoint)) return new ChildTransport(endpoint);
  const { StreamableHTTPClientTransport } = await loadSdk();
  const { url, token, maxMessageBytes } = endpoint;
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  return new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers },
    fetch: createForeignFetch(url, maxMessageBytes),
  });
}

/** Returns true if a server answers GET with the first event of the transport of 2024-11-05. */
async function speaksSse({ url, token, maxMessageBytes }: ForeignServerUrl): Promise<boolean> {
  const headers = {
    Accept: 'text/event-stream',
    ...(token !== undefined && { Authorization: `Bearer ${token}` }),
  };
  const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS);
  try {
    const response = await createForeignFetch(url, maxMessageBytes)(url, { headers, signal });
    if (!response.ok || response.body === null) return false;
    for await (const { event } of readEvents(response.body)) return event === 'endpoint';
  } catch {
    // It answers neither in the old way nor in the new one.
  }
  return false;
}

async function listTools(
  client: Client,
  options: { readonly timeout: number; readonly signal: AbortSignal },
) {
  const listed: unknown[] = [];
  const tools: ForeignTool[] = [];
  const refused: string[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const { success, data, error } = pageSchema.safeParse(
      await translateErrors('tools/list', () =>
        client.request({ method: 'tools/list', params }, pageSchema, options),
      ),
    );
    if (!success) throw new MeshError('packet', `MCP: tools/list: ${formatIssues(error)}`);
    for (const said of data.tools) {
      if (tools.length + refused.length >= MAX_TOOLS) {
        refused.push(`more than ${MAX_TOOLS} tools`);
        return { listed, tools, refused };
      }
      listed.push(said);
      const tool = parseTool(said);
      if (typeof tool === 'string') refused.push(tool);
      else if (tools.some(({ name }) => name === tool.name)) refused.push(`${tool.name}: comes twice`);
      else tools.push(tool);
    }
    cursor = data.nextCursor ?? undefined;
    if (cursor === undefined) return { listed, tools, refused };
  }
  refused.push(`more than ${MAX_PAGES} pages of tools`);
  return { listed, tools, refused };
}

function parseTool(said: unknown): ForeignTool | string {
  const { success, data, error } = toolSchema.safeParse(said);
  const shown = String(Object(said).name).slice(0, 64);
  if (!success) return `${shown}: ${formatIssues(error)}`;
  const { name, description, inputSchema } = data;
  const bytes = Buffer.byteLength(JSON.stringify(inputSchema));
  if (bytes > MAX_SCHEMA_BYTES)
    return `${shown}: its schema has ${bytes} bytes; the maximum is ${MAX_SCHEMA_BYTES}`;
  return { name, description: (description ?? '').slice(0, MAX_DESCRIPTION).toWellFormed(), inputSchema };
}

async function call(
  client: Client,
  name: string,
  args: JsonObject,
  { signal, timeoutMs, traceparent }: CallOptions,
): Promise<ReturnType<typeof readForeignResult>> {
  // MCP, 2026-07-28, basic/index: the trace context travels in `_meta`.
  const meta = traceparent === undefined ? {} : { _meta: { traceparent } };
  const request = { method: 'tools/call', params: { name, arguments: args, ...meta } } as const;
  // The result is taken unchecked, as the SDK's own check compiles any schema that the server gave.
  const result = await translateErrors(name, () =>
    client.request(request, z.looseObject({}), { signal, timeout: timeoutMs, maxTotalTimeout: timeoutMs }),
  );
  return readForeignResult(z.json().parse(result));
}

/** Describes a failed connection: Node's fetch says why in the cause of its error, and not where. */
function describeLoss(error: unknown, endpoint: ForeignServerEndpoint): string {
  // The SDK's schemas list all forms that a message may have, over pages.
  if (error instanceof Error && error.name === 'ZodError')
    return 'it answered with something that is no message of MCP';
  const said = toErrorMessage(error);
  const isOfFetch = 'url' in endpoint && error instanceof Error && error.cause instanceof Error;
  return isOfFetch ? `${endpoint.url}: ${said}: ${toErrorMessage(error.cause)}` : said;
}

/** Chooses the code by what was lost: `agent` for the connection, `limit` for the reply, `tool` if the server refused. */
async function translateErrors<T>(what: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (cause) {
    if (cause instanceof MeshError) throw cause;
    const { ProtocolError } = await loadSdk();
    const said = toErrorMessage(cause);
    const isLost = /closed|not connected|fetch failed/i.test(said);
    const hasReplied = cause instanceof ProtocolError && cause.code !== NO_ANSWER;
    const code = isLost ? 'agent' : hasReplied ? 'tool' : 'limit';
    throw new MeshError(code, `MCP: ${what}: ${shortenReason(said)}`, { cause });
  }
}
