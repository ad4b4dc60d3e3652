import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { shortenReason } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';
import { SESSION_TIMEOUT_MS, type StackClient, type StackSettings } from '../../contract/stack.ts';
import { MCP_REVISION } from '../revision.ts';
import { connectPacketTool, parseContent } from '../tools.ts';

/**
 * Calls over one transport. Messages before the response are notifications of that request, which this client
 * ignores.
 */
export interface McpCaller {
  call(request: McpMessage, signal: AbortSignal): Promise<unknown>;
  close(): Promise<void>;
}

interface McpMessage {
  readonly jsonrpc: '2.0';
  readonly id: number;
  readonly method: string;
  /** Includes the name of the called tool, which HTTP repeats in a header. */
  readonly params: { readonly name?: string; readonly _meta: object };
}

const responseSchema = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.unknown(),
  result: z.looseObject({ resultType: z.string() }).optional(),
  error: z.looseObject({ code: z.number(), message: z.string() }).optional(),
});
const discoverSchema = z.looseObject({ supportedVersions: z.array(z.string()) });
const toolsSchema = z.looseObject({ tools: z.array(z.looseObject({ name: z.string() })) });

/** The part that a client repeats in each request (basic, "`_meta`"). */
const REQUEST_META = {
  'io.modelcontextprotocol/protocolVersion': MCP_REVISION,
  'io.modelcontextprotocol/clientInfo': { name: 'mesh', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

/**
 * Connects the minimal client of MCP: it asks for the server's revisions and tools, then it calls one.
 *
 * @throws MeshError `packet` for a server that speaks another revision or has no such tool, `agent` if no
 * server answers
 */
export function connectBare(
  caller: McpCaller,
  { deadlineMs }: Pick<StackSettings, 'deadlineMs'>,
): Promise<Omit<StackClient, 'wire'>> {
  let calls = 0;
  const ask = async (method: string, params: object, signal: AbortSignal): Promise<unknown> => {
    calls += 1;
    const id = calls;
    const request: McpMessage = { jsonrpc: '2.0', id, method, params: { ...params, _meta: REQUEST_META } };
    const response = parseContent(responseSchema, await caller.call(request, signal), method);
    const { result, error } = response;
    if (error !== undefined)
      throw new MeshError('packet', `MCP: ${method} was refused: ${shortenReason(error.message)}`);
    if (response.id !== id || result?.resultType !== 'complete')
      throw new MeshError('packet', `MCP: ${method}: expected a complete result of request ${id}`);
    return result;
  };
  return connectPacketTool({
    async listTools() {
      const signal = AbortSignal.timeout(Math.max(deadlineMs, SESSION_TIMEOUT_MS));
      const discovered = await ask('server/discover', {}, signal);
      const { supportedVersions } = parseContent(discoverSchema, discovered, 'server/discover');
      if (!supportedVersions.includes(MCP_REVISION))
        throw new MeshError(
          'packet',
          `MCP: expected a server of ${MCP_REVISION}, received ${supportedVersions.join()}`,
        );
      return parseContent(toolsSchema, await ask('tools/list', {}, signal), 'tools/list').tools;
    },
    callTool: (params, signal) => ask('tools/call', params, signal),
    close: () => caller.close(),
  });
}
