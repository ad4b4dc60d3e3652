import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { type Packet, shortenReason } from '@gaia-mesh/core/contracts/packet.ts';
import type { Client, Transport } from '@modelcontextprotocol/client';
import type { StackClient, StackSettings } from '../../contract/stack.ts';
import { MCP_REVISION, PACKET_TOOL, SESSION_TIMEOUT_MS } from '../revision.ts';
import { checkTools, parseReplies } from '../tools.ts';
import { loadClient } from './sdk.ts';

/**
 * Connects a client of the SDK that speaks this revision only, and reads the server's name and tools.
 *
 * @throws MeshError `agent` if there is no session, `packet` for a server without the tool
 */
export async function connectSdk(
  purpose: string,
  transport: Transport,
  settings: StackSettings,
): Promise<Pick<StackClient, 'exchange' | 'close'>> {
  const { Client } = await loadClient(purpose);
  const info = { name: 'mesh', version: '1' };
  const client = new Client(info, { versionNegotiation: { mode: { pin: MCP_REVISION } } });
  try {
    const options = { timeout: Math.max(settings.deadlineMs, SESSION_TIMEOUT_MS) };
    await client.connect(transport, options);
    checkTools((await client.listTools({}, options)).tools);
  } catch (cause) {
    await client.close();
    if (cause instanceof MeshError) throw cause;
    throw new MeshError('agent', `MCP: no session: ${shortenReason(toErrorMessage(cause))}`, { cause });
  }
  return {
    exchange: async (packet, signal) => parseReplies(await call(client, packet, settings, signal), packet.id),
    close: () => client.close(),
  };
}

async function call(
  client: Client,
  packet: Packet,
  settings: StackSettings,
  signal: AbortSignal,
): Promise<unknown> {
  const options = { timeout: settings.deadlineMs, signal };
  const params = { name: PACKET_TOOL, arguments: { ...packet } };
  try {
    return await client.callTool(params, options);
  } catch (cause) {
    throw new MeshError('agent', `MCP: the call of ${packet.id}: ${shortenReason(toErrorMessage(cause))}`, {
      cause,
    });
  }
}
