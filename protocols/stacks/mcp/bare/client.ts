import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { type Packet, shortenReason } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';
import type { StackSettings } from '../../contract/stack.ts';
import { MCP_REVISION, PACKET_TOOL, SESSION_TIMEOUT_MS } from '../revision.ts';
import { checkTools, parseContent, parseReplies } from '../tools.ts';

/**
 * Calls over one transport. Messages before the response are notifications of that request, which this client
 * ignores.
 */
export interface McpCaller {
  /** @param name of the called tool, which HTTP repeats in a header */
  call(request: McpMessage, name: string | undefined, signal: AbortSignal): Promise<unknown>;
  close(): void | Promise<void>;
}

interface McpMessage {
  readonly jsonrpc: '2.0';
  readonly id: number;
  readonly method: string;
  readonly params: object;
}

const responseSchema = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.unknown(),
  result: z.looseObject({ resultType: z.string() }).optional(),
  error: z.looseObject({ code: z.number(), message: z.string() }).optional(),
});
const discoverSchema = z.looseObject({ supportedVersions: z.array(z.string()) });
const toolsSchema = z.looseObject({ tools: z.array(z.looseObject({ name: z.string() })) });

/** The minimal client of MCP: it asks for the server's revisions and tools, then it calls one. */
export class BareMcpClient {
  readonly #caller: McpCaller;
  #calls = 0;

  private constructor(caller: McpCaller) {
    this.#caller = caller;
  }

  /**
   * @throws MeshError `packet` for a server that speaks another revision or has no such tool, `agent` if no
   * server answers
   */
  static async connect(
    caller: McpCaller,
    { deadlineMs }: Pick<StackSettings, 'deadlineMs'>,
  ): Promise<BareMcpClient> {
    const client = new BareMcpClient(caller);
    const signal = AbortSignal.timeout(Math.max(deadlineMs, SESSION_TIMEOUT_MS));
    const discovered = await client.#ask('server/discover', {}, signal);
    const { supportedVersions } = parseContent(discoverSchema, discovered, 'server/discover');
    if (!supportedVersions.includes(MCP_REVISION))
      throw new MeshError(
        'packet',
        `MCP: expected a server of ${MCP_REVISION}, received ${supportedVersions.join()}`,
      );
    const { tools } = parseContent(toolsSchema, await client.#ask('tools/list', {}, signal), 'tools/list');
    checkTools(tools);
    return client;
  }

  async exchange(packet: Packet, signal: AbortSignal): Promise<readonly Packet[]> {
    const params = { name: PACKET_TOOL, arguments: packet };
    return parseReplies(await this.#ask('tools/call', params, signal, PACKET_TOOL), packet.id);
  }

  async close(): Promise<void> {
    await this.#caller.close();
  }

  async #ask(method: string, params: object, signal: AbortSignal, name?: string): Promise<unknown> {
    this.#calls += 1;
    const id = this.#calls;
    const _meta = buildRequestMeta('mesh');
    const request: McpMessage = { jsonrpc: '2.0', id, method, params: { ...params, _meta } };
    const response = parseContent(responseSchema, await this.#caller.call(request, name, signal), method);
    const { result, error } = response;
    if (error !== undefined)
      throw new MeshError('packet', `MCP: ${method} was refused: ${shortenReason(error.message)}`);
    if (response.id !== id || result?.resultType !== 'complete')
      throw new MeshError('packet', `MCP: ${method}: expected a complete result of request ${id}`);
    return result;
  }
}

/** Builds the part that a client repeats in each request (basic, "`_meta`"). */
function buildRequestMeta(clientName: string) {
  return {
    'io.modelcontextprotocol/protocolVersion': MCP_REVISION,
    'io.modelcontextprotocol/clientInfo': { name: clientName, version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
}
