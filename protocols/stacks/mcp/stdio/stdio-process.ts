/** The process that a client of MCP over stdio starts: a server on its own pipes, with an inbox of its own. */
import { once } from 'node:events';
import net, { type Socket } from 'node:net';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { parsePacket } from '@gaia-mesh/core/contracts/packet.ts';
import type { Inbox, InboxSource } from '../../contract/stack.ts';
import { watchPipes } from '../../meter/pipes.ts';
import { processUsage } from '../../meter/process-usage.ts';
import { WireMeter } from '../../meter/wire-meter.ts';
import { heard, tell, toChildSchema } from './control.ts';
import { servePipes } from './serve-pipes.ts';

const counters = { packets: 0, refused: 0 };
const calls = new Map<number, PromiseWithResolvers<readonly unknown[]>>();
let lastCall = 0;

const [file = ''] = process.argv.slice(2);
const control = net.connect(file);
await once(control, 'connect');
// Whoever serves is gone: so is what it serves.
control.once('close', () => process.exit(0)).on('error', () => process.exit(1));
const { stdin, stdout } = process;
if (!(stdin instanceof net.Socket) || !(stdout instanceof net.Socket)) {
  throw new MeshError('config', 'mcp/stdio: expected pipes for stdin and stdout');
}
const meter = new WireMeter();
watchPipes(meter, stdin, stdout);

function report(collect: boolean): void {
  tell(control, { say: 'report', wire: meter.bytes, ...counters, ...processUsage(collect) });
}

function end(): void {
  report(false);
  control.end();
}
stdin.once('close', end);
process.once('SIGTERM', end);

for await (const message of heard(control, toChildSchema)) {
  if (message.say === 'serve') {
    const { implementation, results, source } = message;
    const inbox = source === null ? calledInbox(control) : await loadedInbox(source);
    await servePipes(implementation, inbox, { results }, stdin, stdout);
  } else if (message.say === 'ask') {
    report(message.collect);
  } else if (message.say === 'answered') {
    calls.get(message.call)?.resolve(message.replies);
  } else {
    calls.get(message.call)?.reject(new MeshError('tool', message.reason));
  }
}

/** Counts what the inbox does, since nobody else sees it. */
async function loadedInbox({ module, data }: InboxSource): Promise<Inbox> {
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

/** Asks the process that serves, whose inbox it is. */
function calledInbox(socket: Socket): Inbox {
  return async (packet, signal) => {
    lastCall += 1;
    const call = lastCall;
    const answer = Promise.withResolvers<readonly unknown[]>();
    calls.set(call, answer);
    const abort = () => tell(socket, { say: 'abort', call });
    signal.addEventListener('abort', abort, { once: true });
    tell(socket, { say: 'call', call, packet });
    try {
      return (await answer.promise).map(parsePacket);
    } finally {
      calls.delete(call);
      signal.removeEventListener('abort', abort);
    }
  };
}
