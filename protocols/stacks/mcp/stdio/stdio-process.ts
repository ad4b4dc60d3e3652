/** This process is started by a client of MCP over stdio: a server on its own pipes, with an inbox of its own. */
import { once } from 'node:events';
import net, { type Socket } from 'node:net';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { parsePacket } from '@gaia-mesh/core/contracts/packet.ts';
import type { Inbox, InboxSource } from '../../contract/stack.ts';
import { watchPipes } from '../../meter/pipes.ts';
import { readProcessUsage } from '../../meter/process-usage.ts';
import { WireMeter } from '../../meter/wire-meter.ts';
import { receiveControl, sendControl, toChildSchema } from './control.ts';
import { servePipes } from './serve-pipes.ts';

const counters = { packets: 0, refused: 0 };
const calls = new Map<number, PromiseWithResolvers<readonly unknown[]>>();
let lastCall = 0;

const [file = ''] = process.argv.slice(2);
const control = net.connect(file);
await once(control, 'connect');
// Without the serving process there is nothing to serve.
control.once('close', () => process.exit(0)).on('error', () => process.exit(1));
const { stdin, stdout } = process;
if (!(stdin instanceof net.Socket) || !(stdout instanceof net.Socket)) {
  throw new MeshError('config', 'mcp/stdio: expected pipes for stdin and stdout');
}
const meter = new WireMeter();
watchPipes(meter, stdin, stdout);

function sendReport(collect: boolean): void {
  sendControl(control, { say: 'report', wire: meter.bytes, ...counters, ...readProcessUsage(collect) });
}

function endProcess(): void {
  sendReport(false);
  control.end();
}
stdin.once('close', endProcess);
process.once('SIGTERM', endProcess);

for await (const message of receiveControl(control, toChildSchema)) {
  if (message.say === 'serve') {
    const { implementation, results, source } = message;
    const inbox = source === null ? createRemoteInbox(control) : await loadInbox(source);
    await servePipes(implementation, inbox, { results }, stdin, stdout);
  } else if (message.say === 'ask') {
    sendReport(message.collect);
  } else if (message.say === 'answered') {
    calls.get(message.call)?.resolve(message.replies);
  } else {
    calls.get(message.call)?.reject(new MeshError('tool', message.reason));
  }
}

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

/** Creates an inbox that sends packets to the serving process, which has the real one. */
function createRemoteInbox(socket: Socket): Inbox {
  return async (packet, signal) => {
    lastCall += 1;
    const call = lastCall;
    const answer = Promise.withResolvers<readonly unknown[]>();
    calls.set(call, answer);
    const abort = () => sendControl(socket, { say: 'abort', call });
    signal.addEventListener('abort', abort, { once: true });
    sendControl(socket, { say: 'call', call, packet });
    try {
      return (await answer.promise).map(parsePacket);
    } finally {
      calls.delete(call);
      signal.removeEventListener('abort', abort);
    }
  };
}
