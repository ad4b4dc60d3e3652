import { formatIssues, type JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';
import { createFaultError, type RpcRequest } from '../../json-rpc.ts';
import { MCP_REVISION } from '../revision.ts';
import { describeTool, type McpTool } from '../tools.ts';
import { chooseRevision, isLegacy } from './legacy.ts';

const META = 'io.modelcontextprotocol';

const progressSchema = z.looseObject({ progressToken: z.union([z.string(), z.number()]).optional() });
const metaSchema = progressSchema.extend({
  [`${META}/protocolVersion`]: z.string(),
  [`${META}/clientCapabilities`]: z.looseObject({}),
});
const callSchema = z.looseObject({
  name: z.string(),
  arguments: z.custom<JsonObject>((value) => typeof value === 'object' && value !== null).optional(),
});
const pageSchema = z.looseObject({ cursor: z.string().optional() });

/** Additional methods of a server, each of which returns its result for the parameters. */
type McpMethods = Readonly<Record<string, (params: JsonObject) => Promise<object>>>;

interface McpServerOptions {
  readonly tools: readonly McpTool[];
  /** Name under which the server presents itself. */
  readonly info?: { readonly name: string; readonly version: string; readonly title?: string };
  /** Instructions for a client's model. */
  readonly instructions?: string;
  /** True if it also speaks the earlier revisions, as most clients still do. */
  readonly takesLegacy?: boolean;
  readonly methods?: McpMethods;
  /** Capabilities in addition to `tools`. */
  readonly capabilities?: object;
}

/** Time for which a client may cache a list; it does not change while the server runs ("Caching"). */
const CACHE = { ttlMs: 3_600_000, cacheScope: 'public' } as const;

/**
 * A server of MCP 2026-07-28 without a transport: a request in, a response out, notifications in between. A
 * transport reads messages by `readRequest` and writes the result of {@link McpServer.handle}.
 */
export class McpServer {
  readonly #tools: ReadonlyMap<string, McpTool>;
  readonly #listed: readonly object[];
  readonly #methods: McpMethods;
  readonly #capabilities: object;
  readonly #info: NonNullable<McpServerOptions['info']>;
  readonly #instructions: string | undefined;
  readonly #takesLegacy: boolean;

  constructor({
    tools,
    methods = {},
    capabilities = {},
    info = { name: 'mesh', version: '1' },
    instructions,
    takesLegacy = false,
  }: McpServerOptions) {
    this.#info = info;
    this.#instructions = instructions;
    this.#takesLegacy = takesLegacy;
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
    this.#listed = tools.map(describeTool);
    this.#methods = methods;
    this.#capabilities = { tools: {}, ...capabilities };
  }

  /**
   * @param notify sends a notification that belongs to this request
   * @param revision the client's revision, if the transport states it
   */
  async handle(
    request: RpcRequest,
    notify: (notification: object) => Promise<void>,
    signal: AbortSignal,
    revision?: string,
  ): Promise<object> {
    const { id, method, params } = request;
    if (this.#takesLegacy && isLegacy(request, revision))
      return { jsonrpc: '2.0', id, result: await this.#answerLegacy(method, params ?? {}, notify, signal) };
    const result = await this.#answer(method, params ?? {}, notify, signal);
    const _meta = { [`${META}/serverInfo`]: this.#info };
    return { jsonrpc: '2.0', id, result: { resultType: 'complete', ...result, _meta } };
  }

  async #answerLegacy(
    method: string,
    params: Record<string, unknown>,
    notify: (notification: object) => Promise<void>,
    signal: AbortSignal,
  ): Promise<object> {
    switch (method) {
      case 'initialize':
        return {
          protocolVersion: chooseRevision(params),
          capabilities: this.#capabilities,
          serverInfo: this.#info,
          instructions: this.#instructions,
        };
      case 'ping':
        return {};
      case 'tools/list':
        return this.#list(params);
      case 'tools/call': {
        const { progressToken } = parseParams(progressSchema, params._meta ?? {}, '_meta');
        return this.#call(params, progressToken, notify, signal);
      }
      default:
        return this.#own(method, params);
    }
  }

  async #answer(
    method: string,
    params: Record<string, unknown>,
    notify: (notification: object) => Promise<void>,
    signal: AbortSignal,
  ): Promise<object> {
    const { progressToken, ...meta } = parseParams(metaSchema, params._meta, '_meta');
    const requested = String(meta[`${META}/protocolVersion`]);
    if (requested !== MCP_REVISION)
      throw createFaultError(
        'wrongRevision',
        `expected revision ${MCP_REVISION}, received ${requested.slice(0, 32)}`,
        { requested, supported: [MCP_REVISION] },
      );
    switch (method) {
      case 'server/discover':
        return {
          supportedVersions: [MCP_REVISION],
          capabilities: this.#capabilities,
          instructions: this.#instructions,
          ...CACHE,
        };
      case 'tools/list':
        return { ...this.#list(params), ...CACHE };
      case 'tools/call':
        return this.#call(params, progressToken, notify, signal);
      default:
        return this.#own(method, params);
    }
  }

  #own(method: string, params: object): Promise<object> {
    const own = Object.hasOwn(this.#methods, method) ? this.#methods[method] : undefined;
    if (own === undefined)
      throw createFaultError('methodNotFound', `no method ${JSON.stringify(method.slice(0, 64))}`);
    return own(Object(params));
  }

  #list(params: object): object {
    if (parseParams(pageSchema, params, 'params').cursor !== undefined)
      throw createFaultError('invalidParams', 'there is one page of tools');
    return { tools: this.#listed };
  }

  async #call(
    params: object,
    progressToken: string | number | undefined,
    notify: (notification: object) => Promise<void>,
    signal: AbortSignal,
  ): Promise<object> {
    const { name, arguments: args = {} } = parseParams(callSchema, params, 'params');
    const tool = this.#tools.get(name);
    if (tool === undefined)
      throw createFaultError('invalidParams', `no tool ${JSON.stringify(name.slice(0, 64))}`);
    const progress = async (done: number, total?: number, message?: string) => {
      if (progressToken === undefined) return;
      const said = { progressToken, progress: done, total, message };
      await notify({ jsonrpc: '2.0', method: 'notifications/progress', params: said });
    };
    return tool.call(args, { signal, progress });
  }
}

function parseParams<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const { success, data, error } = schema.safeParse(value);
  if (!success) throw createFaultError('invalidParams', `${what}: ${formatIssues(error)}`);
  return data;
}
