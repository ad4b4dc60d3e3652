import type { Client, Transport } from '@modelcontextprotocol/client';
import { MeshError, messageOf } from '../../../../core/contracts/errors.ts';
import { type Packet, shortReason } from '../../../../core/contracts/packet.ts';
import type { BindingSettings } from '../../contract/binding.ts';
import { traceOf } from '../../contract/trace-of.ts';
import { argumentsOf, repliesOf } from '../packets.ts';
import { MCP_REVISION, PACKET_TOOL, SESSION_TIMEOUT_MS } from '../revision.ts';
import { loadClient } from './sdk.ts';

/** A client of the SDK that speaks this revision only: it has asked what the server is, and which tools it has. */
export class SdkMcpClient {
  readonly #client: Client;
  readonly #settings: BindingSettings;

  private constructor(client: Client, settings: BindingSettings) {
    this.#client = client;
    this.#settings = settings;
  }

  static async connect(
    purpose: string,
    transport: Transport,
    settings: BindingSettings,
  ): Promise<SdkMcpClient> {
    const { Client } = await loadClient(purpose);
    const info = { name: 'mesh', version: '1' };
    const client = new Client(info, { versionNegotiation: { mode: { pin: MCP_REVISION } } });
    try {
      const options = { timeout: Math.max(settings.deadlineMs, SESSION_TIMEOUT_MS) };
      await client.connect(transport, options);
      const { tools } = await client.listTools({}, options);
      if (!tools.some(({ name }) => name === PACKET_TOOL))
        throw new MeshError(
          'packet',
          `MCP: expected a tool ${PACKET_TOOL}, came ${tools.map(({ name }) => name)}`,
        );
    } catch (cause) {
      await client.close();
      if (cause instanceof MeshError) throw cause;
      throw new MeshError('agent', `MCP: no session: ${shortReason(messageOf(cause))}`, { cause });
    }
    return new SdkMcpClient(client, settings);
  }

  async exchange(packet: Packet, signal: AbortSignal): Promise<readonly Packet[]> {
    const options = { timeout: this.#settings.deadlineMs, signal };
    const told = this.#settings.later === 'stream' ? { ...options, onprogress: () => undefined } : options;
    let result: unknown;
    try {
      const trace = traceOf(this.#settings, packet);
      const _meta = trace === undefined ? {} : { _meta: trace };
      result = await this.#client.callTool(
        { name: PACKET_TOOL, arguments: argumentsOf(packet), ..._meta },
        told,
      );
    } catch (cause) {
      throw new MeshError('agent', `MCP: the call of ${packet.id}: ${shortReason(messageOf(cause))}`, {
        cause,
      });
    }
    return repliesOf(result, packet.id);
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}
