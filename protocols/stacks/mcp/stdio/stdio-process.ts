/** A client of MCP over stdio starts this process, which serves on its pipes and has its own inbox. */
import { once } from 'node:events';
import net from 'node:net';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { type JsonValue, parsePacket } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';
import type { Inbox, InboxSource } from '../../contract/stack.ts';
import { ControlChannel, type ProcessCounts, readProcessUsage } from '../../control-channel.ts';
import { WireMeter } from '../../meter/wire-meter.ts';
import { McpServer } from '../server/mcp-server.ts';
import { createPacketTool } from '../tools.ts';
import { serveStdio } from './bare-server.ts';

const questionSchema = z.discriminatedUnion('do', [
  z.strictObject({
    do: z.literal('serve'),
    implementation: z.enum(['sdk', 'bare']),
    /** Source of the inbox; without one, packets are sent to the serving process. */
    source: z
      .strictObject({ module: z.string(), data: z.custom<JsonValue>((value) => value !== undefined) })
      .nullable(),
  }),
  z.strictObject({ do: z.literal('count') }),
]);

/** Maximum bytes of a line that the SDK's reader buffers. */
const SDK_LINE_BYTES = 10 * 1024 * 1024;

const counters = { packets: 0, refused: 0 };

const [file = ''] = process.argv.slice(2);
const socket = net.connect(file);
await once(socket, 'connect');
// Without the serving process there is nothing to serve.
socket.once('close', () => process.exit(0)).on('error', () => process.exit(1));
const { stdin, stdout } = process;
if (!(stdin instanceof net.Socket) || !(stdout instanceof net.Socket)) {
  throw new MeshError('config', 'mcp/stdio: expected pipes for stdin and stdout');
}
const meter = new WireMeter();
meter.addPipes(stdin, stdout);
const count = (): ProcessCounts => ({
  wire: meter.bytes,
  ...counters,
  ...readProcessUsage(),
});

const channel: ControlChannel = new ControlChannel(socket, async (asked) => {
  const question = questionSchema.parse(asked);
  if (question.do === 'count') return count();
  const { implementation, source } = question;
  const inbox = source === null ? askServingProcess : await loadInbox(source);
  await servePipes(implementation, inbox);
  return null;
});

async function endProcess(): Promise<void> {
  await channel.ask({ do: 'end', counts: count() });
  socket.end();
}
stdin.once('close', endProcess);
process.once('SIGTERM', endProcess);

/** Loads an inbox and counts its packets, which no other process sees. */
async function loadInbox({ module, data }: InboxSource): Promise<Inbox> {
  const { inboxOf }: { inboxOf: (data: InboxSource['data']) => Inbox } = await import(module);
  const inbox = inboxOf(data);
  return async (packet, signal) => {
    counters.packets += 1;
    try {
      return await inbox(packet, signal);
    } catch (error) {
      counters.refused += 1;
      throw error;
    }
  };
}

/** Sends a packet to the serving process, which has the real inbox. */
async function askServingProcess(...[packet, signal]: Parameters<Inbox>): ReturnType<Inbox> {
  return z
    .array(z.unknown())
    .parse(await channel.ask({ do: 'packet', packet }, signal))
    .map(parsePacket);
}

/** Serves the client at the other end of the pipes. */
async function servePipes(implementation: 'sdk' | 'bare', inbox: Inbox): Promise<void> {
  const tools = [createPacketTool(inbox)];
  if (implementation === 'bare') {
    void serveStdio(new McpServer({ tools }), stdin, stdout);
    return;
  }
  const { createSdkServer } = await import('../sdk/server.ts');
  const stdio = await import('@modelcontextprotocol/server/stdio');
  const transport = new stdio.StdioServerTransport(stdin, stdout, { maxBufferSize: SDK_LINE_BYTES });
  stdio.serveStdio(() => createSdkServer(tools), { legacy: 'reject', transport });
}
