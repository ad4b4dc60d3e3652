import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { shortenReason } from '@gaia-mesh/core/contracts/packet.ts';
import { Client, type Transport } from '@modelcontextprotocol/client';
import { SESSION_TIMEOUT_MS, type StackClient, type StackSettings } from '../../contract/stack.ts';
import { MCP_REVISION } from '../revision.ts';
import { connectPacketTool } from '../tools.ts';

/**
 * Connects a client of the SDK that speaks this revision only, and reads the server's name and tools.
 *
 * @param afterClose closes what the transport leaves open
 * @throws MeshError `agent` if there is no session, `packet` for a server without the tool
 */
export function connectSdk(
  transport: Transport,
  settings: StackSettings,
  afterClose = async (): Promise<void> => undefined,
): Promise<Omit<StackClient, 'wire'>> {
  const info = { name: 'mesh', version: '1' };
  const client = new Client(info, { versionNegotiation: { mode: { pin: MCP_REVISION } } });
  return connectPacketTool({
    async listTools() {
      const options = { timeout: Math.max(settings.deadlineMs, SESSION_TIMEOUT_MS) };
      try {
        await client.connect(transport, options);
        return (await client.listTools({}, options)).tools;
      } catch (cause) {
        throw new MeshError('agent', `MCP: no session: ${shortenReason(toErrorMessage(cause))}`, { cause });
      }
    },
    async callTool({ name, arguments: packet }, signal) {
      const options = { timeout: settings.deadlineMs, signal };
      try {
        return await client.callTool({ name, arguments: { ...packet } }, options);
      } catch (cause) {
        throw new MeshError(
          'agent',
          `MCP: the call of ${packet.id}: ${shortenReason(toErrorMessage(cause))}`,
          { cause },
        );
      }
    },
    async close() {
      await client.close();
      await afterClose();
    },
  });
}
