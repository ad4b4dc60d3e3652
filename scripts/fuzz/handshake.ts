import { once } from 'node:events';
import net from 'node:net';
import fc from 'fast-check';
import { MeshError } from '../../core/errors.ts';
import { FrameSocket } from '../../core/frame-socket.ts';
import { answerHub, greetAgent } from '../../core/handshake.ts';
import { adapterNamed } from '../../protocols/registry.ts';
import { anyWrites } from './handshake-messages.ts';
import { listen, within } from './loopback.ts';
import { Fault, fuzzTarget } from './target.ts';

/** Short, so that whoever says nothing does not cost much; far longer than good messages take. */
const TIMEOUT_MS = 60;
/** A busy machine may not look at its timers for so long. */
const MAX_LATE_MS = 5_000;

const cases = fc.record({
  writes: anyWrites,
  /** Whether all goes out in one piece; else each piece waits for an answer, or a little while. */
  isAtOnce: fc.boolean(),
  ending: fc.constantFrom('hang up', 'reset', 'wait'),
  secret: fc.constantFrom('', 'a secret'),
  side: fc.constantFrom('agent', 'hub'),
});
type Case = typeof cases extends fc.Arbitrary<infer C> ? C : never;

/** Whoever is at the other end: the handshake ends in time, with an agreement or an error with a code, and nothing stays open. */
export const handshake = fuzzTarget('handshake', cases, async () => async (one) => {
  const before = openSockets();
  const { promise: accepted, resolve: accept } = Promise.withResolvers<net.Socket>();
  const listener = await listen(accept);
  const where = { host: '127.0.0.1', port: listener.port };
  // Who dials is the hub.
  const stranger = one.side === 'hub' ? accepted : connected(where);
  const said = stranger.then((socket) => say(socket, one));
  try {
    const ours =
      one.side === 'hub' ? FrameSocket.dial(where.host, where.port) : accepted.then(FrameSocket.accept);
    const outcome = await within(TIMEOUT_MS + MAX_LATE_MS, outcomeOf(ours, one), 'it hangs');
    if (outcome !== undefined) throw new Fault(outcome);
  } finally {
    await said;
    (await stranger).destroy();
    await listener.close();
  }
  const deadlineMs = performance.now() + MAX_LATE_MS;
  while (openSockets() > before) {
    if (performance.now() > deadlineMs) throw new Fault('a connection stays open');
    await new Promise((resolve) => setImmediate(resolve));
  }
});

/** What was wrong with how it ended; undefined for an agreement, and for an error with one of the codes that it may have. */
async function outcomeOf(ours: Promise<FrameSocket>, one: Case): Promise<string | undefined> {
  let socket: FrameSocket | undefined;
  try {
    socket = await ours;
    await shakeHands(socket, one);
    return one.secret === '' ? undefined : 'a stranger was taken for one who knows the secret';
  } catch (error) {
    if (error instanceof MeshError && ['handshake', 'frame', 'io'].includes(error.code)) return undefined;
    return `threw ${error instanceof Error ? error.stack : String(error)}`;
  } finally {
    socket?.destroy();
    await socket?.closed;
  }
}

async function shakeHands(socket: FrameSocket, { side, secret }: Case): Promise<void> {
  const common = { node: 'a', tool: 'read', secret, timeoutMs: TIMEOUT_MS };
  if (side === 'hub') {
    await greetAgent(socket, { ...common, runId: 'r', adapter: 'json', maxFrameBytes: 1024 });
    return;
  }
  const types = { subscribes: ['doc_init'], emits: [] };
  const resolveAdapter = (name: string) => adapterNamed(name);
  const agreed = await answerHub(socket, {
    ...common,
    ...types,
    adapter: undefined,
    resolveAdapter,
    isBusy: () => false,
  });
  // What the others offered is looked at here.
  agreed.opener.open(agreed.session);
}

function openSockets(): number {
  return process.getActiveResourcesInfo().filter((resource) => resource === 'TCPSocketWrap').length;
}

async function say(socket: net.Socket, { writes, isAtOnce, ending }: Case): Promise<void> {
  socket.on('error', () => socket.destroy());
  if (isAtOnce) socket.write(Buffer.concat(writes));
  for (const bytes of isAtOnce ? [] : writes) {
    const { promise, resolve } = Promise.withResolvers<void>();
    socket.once('data', () => resolve());
    socket.once('close', resolve);
    if (!socket.destroyed) socket.write(bytes);
    await within(5, promise, undefined);
  }
  socket.resume();
  if (ending === 'hang up') socket.end();
  if (ending === 'reset') socket.resetAndDestroy();
  if (ending === 'wait') {
    // Until the other end has had enough.
    const closed = new Promise<void>((resolve) => socket.once('close', resolve));
    if (!socket.destroyed) await within(TIMEOUT_MS + 2 * MAX_LATE_MS, closed, undefined);
  }
}

async function connected(where: net.TcpNetConnectOpts): Promise<net.Socket> {
  const socket = net.connect(where);
  await once(socket, 'connect');
  return socket;
}
