import { once } from 'node:events';
import net from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { HANDSHAKE_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { FrameSocket } from '@gaia-mesh/core/transports/tcp/frame-socket.ts';
import { encodeFrame } from '@gaia-mesh/core/wire/frame.ts';
import { answerHub, greetAgent } from '@gaia-mesh/core/wire/handshake.ts';
import { loadAdapter } from '@gaia-mesh/protocols/registry.ts';
import fc from 'fast-check';
import { applyDamages, damages } from './testing/damage.ts';
import { Defect, fuzz } from './testing/fuzz.ts';
import { listen, raceTimeout } from './testing/mesh-member.ts';

const nonce = 'ab'.repeat(32);
const said = { wire: 1, node: 'a', tool: 'read', adapter: 'json', auth: 'open', nonce, proof: '' };
const goodMessages = [
  { kind: 'hello', wire: 1, run: 'r', node: 'a', tool: 'read', adapter: 'json', auth: 'open', nonce },
  { kind: 'hello', wire: 1, run: 'r', node: '*', tool: '*', adapter: 'anp', auth: 'hmac', nonce },
  { kind: 'welcome', ...said, subscribes: ['doc_init'], emits: [] },
  { kind: 'welcome', ...said, subscribes: [], emits: ['t'], offer: { json: null } },
  { kind: 'begin', proof: '', max_frame: 1024 },
  { kind: 'begin', proof: 'ab', max_frame: 2 ** 53 - 1, offers: { a: {}, hub: [1] } },
  { kind: 'ready' },
  { kind: 'refuse', message: 'no' },
].map((message) => Buffer.from(JSON.stringify(message)));

const value = fc.oneof(
  fc.jsonValue({ stringUnit: 'binary' }),
  fc.constantFrom(-1, 1e308, '*', '', 'hmac', '../a'),
);
/** A good message with some of its keys set to other values. */
const changedMessage = fc
  .tuple(
    fc.constantFrom(...goodMessages),
    fc.array(
      fc.tuple(
        fc.constantFrom('kind', 'wire', 'node', 'adapter', 'auth', 'offers', 'max_frame', '__proto__', 'x'),
        value,
      ),
      { maxLength: 2 },
    ),
  )
  .map(([good, changes]) =>
    Buffer.from(JSON.stringify({ ...JSON.parse(String(good)), ...Object.fromEntries(changes) })),
  );
const message = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...goodMessages) },
  { weight: 3, arbitrary: changedMessage },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom(...goodMessages), fc.constantFrom(...goodMessages), damages)
      .map(([one, other, list]) => applyDamages(one, other, list)),
  },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 100 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      Buffer.alloc(HANDSHAKE_LIMITS.frameBytes, ' '),
      Buffer.alloc(HANDSHAKE_LIMITS.frameBytes + 1, '['),
    ),
  },
);
/** Both parts of a good conversation except the proof: a side that accepts it does not check. */
const conversations = (['open', 'hmac'] as const).flatMap((auth) =>
  [
    [
      { kind: 'hello', wire: 1, run: 'r', node: 'a', tool: 'read', adapter: 'json', auth, nonce },
      { kind: 'begin', proof: '0'.repeat(64), max_frame: 1024 },
    ],
    [{ kind: 'welcome', ...said, auth, proof: '0'.repeat(64), subscribes: [], emits: [] }, { kind: 'ready' }],
  ].map((turns) => turns.map((turn) => encodeFrame(Buffer.from(JSON.stringify(turn))))),
);

/** Bytes that are written at once: frames, or bytes that are none. */
const write = fc.oneof(
  { weight: 5, arbitrary: message.map((blob) => encodeFrame(blob)) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 12 }) },
  { weight: 1, arbitrary: fc.constantFrom('ffffffff', '00040001', '00000000', '80000000').map(fromHex) },
);

/** Pieces that are written one after the other. */
const anyWrites: fc.Arbitrary<readonly Uint8Array[]> = fc.oneof(
  { weight: 4, arbitrary: fc.array(write, { maxLength: 4 }) },
  { weight: 1, arbitrary: fc.constantFrom(...conversations) },
);

function fromHex(hex: string): Buffer {
  return Buffer.from(hex, 'hex');
}

/** Timeout of messages: short, so that a silent peer costs little, but far longer than good messages take. */
const TIMEOUT_MS = 60;
/** Time for which a busy machine may neglect its timers. */
const MAX_LATE_MS = 5_000;

const cases = fc.record({
  writes: anyWrites,
  /** True to write everything at once; otherwise each piece waits for an answer, or a little while. */
  isAtOnce: fc.boolean(),
  ending: fc.constantFrom('hang up', 'reset', 'wait'),
  secret: fc.constantFrom('', 'a secret'),
  side: fc.constantFrom('agent', 'hub'),
});
type HandshakeCase = typeof cases extends fc.Arbitrary<infer C> ? C : never;

/**
 * Whatever the peer does, the handshake must end in time, with an agreement or an error with a code, and
 * leave no open connection.
 */
fuzz('handshake', cases, async () => async (one) => {
  const before = openSockets();
  const { promise: accepted, resolve: accept } = Promise.withResolvers<net.Socket>();
  const listener = await listen(accept);
  const where = { host: '127.0.0.1', port: listener.port };
  // The hub dials.
  const stranger = one.side === 'hub' ? accepted : connectSocket(where);
  const said = stranger.then((socket) => sendWrites(socket, one));
  try {
    const ours =
      one.side === 'hub' ? FrameSocket.dial(where.host, where.port) : accepted.then(FrameSocket.accept);
    const outcome = await raceTimeout(TIMEOUT_MS + MAX_LATE_MS, checkOutcome(ours, one), 'it hangs');
    if (outcome !== undefined) throw new Defect(outcome);
  } finally {
    await said;
    (await stranger).destroy();
    await listener.close();
  }
  const deadlineMs = performance.now() + MAX_LATE_MS;
  while (openSockets() > before) {
    if (performance.now() > deadlineMs) throw new Defect('a connection stays open');
    await nextTurn();
  }
});

/** Returns the fault of an outcome; undefined for an agreement, or for an error with an allowed code. */
async function checkOutcome(ours: Promise<FrameSocket>, one: HandshakeCase): Promise<string | undefined> {
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

async function shakeHands(socket: FrameSocket, { side, secret }: HandshakeCase): Promise<void> {
  const common = { node: 'a', tool: 'read', secret, timeoutMs: TIMEOUT_MS };
  if (side === 'hub') {
    await greetAgent(socket, { ...common, runId: 'r', adapter: 'json', maxFrameBytes: 1024 });
    return;
  }
  const types = { subscribes: ['doc_init'], emits: [] };
  const resolveAdapter = (name: string) => loadAdapter(name);
  const agreed = await answerHub(socket, {
    ...common,
    ...types,
    adapter: undefined,
    resolveAdapter,
    isBusy: () => false,
  });
  // The other members' offers are checked here.
  agreed.opener.open(agreed.session);
}

function openSockets(): number {
  return process.getActiveResourcesInfo().filter((resource) => resource === 'TCPSocketWrap').length;
}

async function sendWrites(socket: net.Socket, { writes, isAtOnce, ending }: HandshakeCase): Promise<void> {
  socket.on('error', () => socket.destroy());
  if (isAtOnce) socket.write(Buffer.concat(writes));
  for (const bytes of isAtOnce ? [] : writes) {
    const { promise, resolve } = Promise.withResolvers<void>();
    socket.once('data', () => resolve());
    socket.once('close', resolve);
    if (!socket.destroyed) socket.write(bytes);
    await raceTimeout(5, promise, undefined);
  }
  socket.resume();
  if (ending === 'hang up') socket.end();
  if (ending === 'reset') socket.resetAndDestroy();
  if (ending === 'wait') {
    // Wait until the other end closes the connection.
    const closed = new Promise<void>((resolve) => socket.once('close', resolve));
    if (!socket.destroyed) await raceTimeout(TIMEOUT_MS + 2 * MAX_LATE_MS, closed, undefined);
  }
}

async function connectSocket(where: net.TcpNetConnectOpts): Promise<net.Socket> {
  const socket = net.connect(where);
  await once(socket, 'connect');
  return socket;
}
