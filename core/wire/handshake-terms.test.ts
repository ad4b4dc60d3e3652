import { createHmac, hkdfSync } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import type { ProtocolAdapter } from '../contracts/adapter.ts';
import { MeshError } from '../contracts/errors.ts';
import { HANDSHAKE_LIMITS } from '../contracts/limits.ts';
import type { JsonValue } from '../contracts/packet.ts';
import type { FrameLink } from './frame-link.ts';
import { answerHub, deriveRunKey, greetAgent } from './handshake.ts';

// The terms of a handshake, message by message; `handshake.test.ts` tries it over real sockets.

type HubSide = Parameters<typeof greetAgent>[1];
type AgentSide = Parameters<typeof answerHub>[1];
type Message = Record<string, unknown>;

const SECRET = 'the secret of this run';
const hubSide: HubSide = {
  runId: 'run-1',
  node: 'reader',
  tool: 'read',
  adapter: 'json',
  secret: SECRET,
  maxFrameBytes: 123_456,
};
const adapter = {
  name: 'json',
  open: () => Promise.reject(new Error('not asked for')),
} as never as ProtocolAdapter;
const agentSide: AgentSide = {
  node: 'reader',
  tool: 'read',
  adapter: undefined,
  secret: SECRET,
  subscribes: ['doc_init'],
  emits: ['triples'],
  resolveAdapter: async () => adapter,
  isBusy: () => false,
};

/** One end of a connection in memory, with what it sent and how it was used. */
class Link {
  readonly sent: Message[] = [];
  readonly timeouts: number[] = [];
  readonly expected: number[][] = [];
  isEnded = false;
  readonly #inbox: Buffer[] = [];
  #wake: () => void = () => undefined;
  peer: Link | undefined;
  change: (message: Message) => Message = (message) => message;

  sendBlob(blob: Uint8Array): number {
    const message: Message = JSON.parse(Buffer.from(blob).toString());
    this.sent.push(message);
    this.peer?.receive(JSON.stringify(this.change(message)));
    return blob.length;
  }

  receive(text: string): void {
    this.#inbox.push(Buffer.from(text));
    this.#wake();
  }

  async nextBlob(timeoutMs: number): Promise<Buffer> {
    this.timeouts.push(timeoutMs);
    for (;;) {
      const blob = this.#inbox.shift();
      if (blob !== undefined) return blob;
      if (this.isEnded || this.peer?.isEnded === true) throw new MeshError('handshake', 'closed');
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  end(): void {
    this.isEnded = true;
    if (this.peer !== undefined) this.peer.#wake();
  }

  expectPackets(...terms: number[]): void {
    this.expected.push(terms);
  }
}

/** Has both sides shake hands; `change` is made of each message on its way. */
async function shakeHands(
  hubChange: Partial<HubSide> = {},
  agentChange: Partial<AgentSide> = {},
  change?: (message: Message) => Message,
) {
  const [hub, agent] = [new Link(), new Link()];
  [hub.peer, agent.peer] = [agent, hub];
  if (change !== undefined) {
    hub.change = change;
    agent.change = change;
  }
  const end = (link: Link) => (error: unknown) => {
    link.end();
    throw error;
  };
  const [atHub, atAgent] = await Promise.allSettled([
    greetAgent(hub as unknown as FrameLink, { ...hubSide, ...hubChange }).catch(end(hub)),
    answerHub(agent as unknown as FrameLink, { ...agentSide, ...agentChange }).catch(end(agent)),
  ]);
  const reason = (settled: PromiseSettledResult<unknown>) =>
    settled.status === 'rejected' ? String(settled.reason.message) : undefined;
  return {
    hub,
    agent,
    atHub: atHub.status === 'fulfilled' ? atHub.value : undefined,
    atAgent: atAgent.status === 'fulfilled' ? atAgent.value : undefined,
    hubFailed: reason(atHub),
    agentFailed: reason(atAgent),
  };
}

const hmac = (said: unknown) => createHmac('sha256', SECRET).update(JSON.stringify(said)).digest('hex');

describe('the messages of a handshake', () => {
  test('are as they are written down, with proofs that anybody with the secret can check', async () => {
    const { hub, agent, atHub, atAgent } = await shakeHands();
    const [hello = {}, begin = {}] = hub.sent;
    const [welcome = {}, ready] = agent.sent;
    const nonce = expect.stringMatching(/^[0-9a-f]{64}$/);
    const terms = ['run-1', 'reader', 'read', 'json', hello.nonce];
    expect(hello).toEqual({
      kind: 'hello',
      wire: 1,
      run: 'run-1',
      node: 'reader',
      tool: 'read',
      adapter: 'json',
      auth: 'hmac',
      nonce,
      ticket: hmac(['ticket', 1, ...terms]),
    });
    expect(welcome).toEqual({
      kind: 'welcome',
      wire: 1,
      node: 'reader',
      tool: 'read',
      adapter: 'json',
      auth: 'hmac',
      nonce,
      proof: hmac(['agent', 1, ...terms, welcome.nonce, [['doc_init'], ['triples'], null]]),
      subscribes: ['doc_init'],
      emits: ['triples'],
    });
    expect(begin).toEqual({
      kind: 'begin',
      proof: hmac(['hub', 1, ...terms, welcome.nonce, [123_456, null]]),
      max_frame: 123_456,
    });
    expect(ready).toEqual({ kind: 'ready' });
    const salt = Buffer.from(`${hello.nonce}${welcome.nonce}`, 'hex');
    const linkKey = new Uint8Array(hkdfSync('sha256', SECRET, salt, 'gaia-mesh run-1', 32));
    const runKey = new Uint8Array(hkdfSync('sha256', SECRET, '', 'gaia-mesh run-1', 32));
    const session = { runId: 'run-1', linkKey, runKey, offers: new Map() };
    expect(atHub).toEqual({
      session: { ...session, self: 'hub', peer: 'reader' },
      maxFrameBytes: 123_456,
      node: 'reader',
      tool: 'read',
      subscribes: ['doc_init'],
      emits: ['triples'],
      delivery: undefined,
    });
    expect(atAgent).toEqual({
      session: { ...session, self: 'reader', peer: 'hub' },
      maxFrameBytes: 123_456,
      adapter,
      opener: adapter,
      delivery: undefined,
    });
    expect(deriveRunKey(SECRET, 'run-1')).toEqual(runKey);
    expect(hub.expected).toEqual([[123_456, 1]]);
  });

  test('without a secret have neither ticket nor proof, and their keys are zero', async () => {
    const onTicket = vi.fn();
    const { hub, agent, atHub } = await shakeHands({ secret: '' }, { secret: '', onTicket });
    expect(hub.sent[0]).toMatchObject({ auth: 'open' });
    expect(hub.sent[0]).not.toHaveProperty('ticket');
    expect([agent.sent[0], hub.sent[1]]).toMatchObject([{ auth: 'open', proof: '' }, { proof: '' }]);
    const zero = new Uint8Array(32);
    expect(atHub?.session).toMatchObject({ linkKey: zero, runKey: zero });
    expect(onTicket).not.toHaveBeenCalled();
  });

  test('are waited for as long as it is said, and the one that waits for others four times as long', async () => {
    const usual = await shakeHands();
    expect(usual.hub.timeouts).toEqual([HANDSHAKE_LIMITS.messageMs, HANDSHAKE_LIMITS.messageMs]);
    expect(usual.agent.timeouts).toEqual([HANDSHAKE_LIMITS.messageMs, 4 * HANDSHAKE_LIMITS.messageMs]);
    const own = await shakeHands({ timeoutMs: 5 }, { timeoutMs: 7 });
    expect([own.hub.timeouts, own.agent.timeouts]).toEqual([
      [5, 5],
      [7, 28],
    ]);
  });

  const OTHER = { nonce: 'ab'.repeat(32), proof: '0'.repeat(64) };
  test.each([
    ...['run', 'node', 'tool', 'adapter'].map((key) => ['hello', key, 'another'] as const),
    ['hello', 'nonce', OTHER.nonce],
    ['hello', 'wire', 2],
    ['welcome', 'nonce', OTHER.nonce],
    ['welcome', 'proof', OTHER.proof],
    ['welcome', 'proof', ''],
    ['welcome', 'subscribes', []],
    ['welcome', 'emits', []],
    ['welcome', 'offer', 'a key'],
    ['welcome', 'delivery', { done: [] }],
    ['begin', 'proof', OTHER.proof],
    ['begin', 'proof', ''],
    ['begin', 'max_frame', 7],
    ['begin', 'offers', { reader: 'a key' }],
  ] as const)(
    'in which somebody changes, in %s, %s on the way to %j are refused',
    async (kind, key, value) => {
      const { atHub, atAgent, hubFailed, agentFailed } = await shakeHands({}, {}, (message) =>
        message.kind === kind ? { ...message, [key]: value } : message,
      );
      expect([atHub, atAgent]).toEqual([undefined, undefined]);
      const isProved = /could not prove|disagree about/;
      expect(`${hubFailed} ${agentFailed}`).toMatch(isProved);
    },
  );

  test('in which somebody takes the id of the last packet away are refused by the agent', async () => {
    const delivery = { mode: 'acknowledged', have: 'p1' } as const;
    const own = { delivery: () => ({ done: ['p1'] }) };
    for (const changed of [undefined, { mode: 'acknowledged', have: 'p2' }]) {
      const { agentFailed } = await shakeHands({ delivery }, own, (message) =>
        message.kind === 'hello' ? { ...message, delivery: changed } : message,
      );
      expect(agentFailed).toMatch(/keeps no outbox|could not prove/);
    }
  });
});

describe('the ticket of a hello', () => {
  const isTaken = async (change: (hello: Message) => Message, agentChange: Partial<AgentSide> = {}) => {
    const onTicket = vi.fn();
    await shakeHands({}, { onTicket, ...agentChange }, (message) =>
      message.kind === 'hello' ? change(message) : message,
    );
    return onTicket.mock.calls.length;
  };

  test('is taken once from a hub that knows the secret', async () => {
    expect(await isTaken((hello) => hello)).toBe(1);
  });

  test.each(['run', 'node', 'tool', 'adapter'])(
    'is of one hello: with another %s it is not taken',
    async (key) => {
      expect(await isTaken((hello) => ({ ...hello, [key]: 'another' }))).toBe(0);
    },
  );

  test('is not taken if it is missing, forged, of another nonce, or where the agent has another secret or none', async () => {
    expect(await isTaken(({ ticket: _ticket, ...hello }) => hello)).toBe(0);
    for (const ticket of ['', '0'.repeat(64), hmac(['ticket'])])
      expect(await isTaken((hello) => ({ ...hello, ticket }))).toBe(0);
    expect(await isTaken((hello) => ({ ...hello, nonce: 'ab'.repeat(32) }))).toBe(0);
    expect(await isTaken((hello) => ({ ...hello, wire: 2 }))).toBe(0);
    for (const secret of ['another', '']) expect(await isTaken((hello) => hello, { secret })).toBe(0);
    // Anybody can sign with no secret.
    const sign = ({ wire, run, node, tool, adapter: name, nonce }: Message) =>
      createHmac('sha256', '')
        .update(JSON.stringify(['ticket', wire, run, node, tool, name, nonce]))
        .digest('hex');
    expect(await isTaken((hello) => ({ ...hello, ticket: sign(hello) }), { secret: '' })).toBe(0);
  });
});

describe('the parties of a handshake', () => {
  test('may be any where the hub asks for any', async () => {
    const { atHub } = await shakeHands({ node: '*', tool: '*' }, { node: 'writer', tool: 'write' });
    expect(atHub).toMatchObject({ node: 'writer', tool: 'write', session: { peer: 'writer' } });
  });

  test('have an adapter by its name, the agent’s own or the hub’s, or are told why not', async () => {
    const resolveAdapter = vi.fn(async () => adapter);
    await shakeHands({}, { resolveAdapter });
    await shakeHands({}, { resolveAdapter, adapter: 'own' });
    expect(resolveAdapter.mock.calls).toEqual([['json'], ['own']]);
    const { hubFailed } = await shakeHands(
      {},
      { resolveAdapter: () => Promise.reject(new Error('not here')) },
    );
    expect(hubFailed).toBe('the other end refused: agent reader: not here');
  });
});

describe('the offers of members', () => {
  const member = { offer: { key: 'abc' } as JsonValue, open: adapter.open };

  test('are exchanged by the hub, and are in the session of each', async () => {
    const join = vi.fn(() => member);
    const exchange = vi.fn(async () => ({ reader: { key: 'abc' }, writer: 'def' }));
    const { hub, agent, atHub, atAgent } = await shakeHands(
      { exchange },
      { resolveAdapter: async () => ({ ...adapter, join }) as never },
    );
    const offers = new Map(Object.entries({ reader: { key: 'abc' }, writer: 'def' }));
    expect(join).toHaveBeenCalledExactlyOnceWith({ runId: 'run-1', self: 'reader' });
    expect(exchange).toHaveBeenCalledExactlyOnceWith('reader', { key: 'abc' });
    expect([atHub?.session.offers, atAgent?.session.offers]).toEqual([offers, offers]);
    expect(atAgent?.opener).toBe(member);
    const terms = [1, 'run-1', 'reader', 'read', 'json', hub.sent[0]?.nonce, agent.sent[0]?.nonce];
    expect(agent.sent[0]?.proof).toBe(hmac(['agent', ...terms, [['doc_init'], ['triples'], { key: 'abc' }]]));
    expect(hub.sent[1]?.proof).toBe(
      hmac(['hub', ...terms, [123_456, { reader: { key: 'abc' }, writer: 'def' }]]),
    );
  });

  test('of an agent that has none are undefined, and a failed exchange ends the handshake', async () => {
    const exchange = vi.fn(async () => undefined);
    const { atHub } = await shakeHands({ exchange });
    expect(exchange).toHaveBeenCalledExactlyOnceWith('reader', undefined);
    expect(atHub?.session.offers).toEqual(new Map());
    const failed = await shakeHands({ exchange: () => Promise.reject(new Error('another is gone')) });
    expect(failed.hubFailed).toBe('another is gone');
    expect(failed.hub.sent).toHaveLength(1);
  });
});

describe('acknowledged delivery', () => {
  const delivery = { mode: 'acknowledged', have: 'p1', lossy: true } as const;

  test('begins with what each has of the other, and both prove it', async () => {
    const [begin, done] = [vi.fn(), vi.fn(() => ({ done: ['a', 'b'] }))];
    const { hub, agent, atHub, atAgent } = await shakeHands({ delivery }, { delivery: done, begin });
    expect(done).toHaveBeenCalledExactlyOnceWith('run-1');
    expect(begin).toHaveBeenCalledExactlyOnceWith('p1');
    expect(atHub?.delivery).toEqual({ done: ['a', 'b'] });
    expect(atAgent?.delivery).toEqual(delivery);
    const terms = [1, 'run-1', 'reader', 'read', 'json', hub.sent[0]?.nonce, agent.sent[0]?.nonce];
    expect(agent.sent[0]?.proof).toBe(
      hmac(['agent', ...terms, [['doc_init'], ['triples'], null, { done: ['a', 'b'] }]]),
    );
    expect(hub.sent[1]?.proof).toBe(hmac(['hub', ...terms, [123_456, null, delivery]]));
  });

  test('is not begun without the hub’s wish, and an agent that cannot is refused', async () => {
    const [begin, done] = [vi.fn(), vi.fn(() => ({ done: [] }))];
    const { atHub } = await shakeHands({}, { delivery: done, begin });
    expect([done.mock.calls, begin.mock.calls, atHub?.delivery]).toEqual([[], [], undefined]);
    const { hubFailed } = await shakeHands({ delivery });
    expect(hubFailed).toBe('agent reader keeps no outbox, so it cannot have its deliveries acknowledged');
  });

  test('that the agent cannot keep up is refused with its reason', async () => {
    const fail = () => {
      throw new Error('the outbox is broken');
    };
    const early = await shakeHands({ delivery }, { delivery: fail });
    const late = await shakeHands({ delivery }, { delivery: () => ({ done: [] }), begin: fail });
    for (const { hubFailed } of [early, late])
      expect(hubFailed).toBe('the other end refused: agent reader: the outbox is broken');
  });
});
