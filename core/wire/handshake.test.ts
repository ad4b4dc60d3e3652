import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ProtocolAdapter } from '../contracts/adapter.ts';
import { MeshError } from '../contracts/errors.ts';
import { bareDialler, bareListener, loopback } from '../testing/loopback.ts';
import type { FrameSocket } from '../transports/tcp/frame-socket.ts';
import { encodeFrame } from './frame.ts';
import { answerHub, greetAgent } from './handshake.ts';

const adapters: Record<string, ProtocolAdapter> = Object.fromEntries(
  ['json', 'msgpack'].map((name) => [
    name,
    { name, open: () => Promise.reject(new Error('not asked for')) as never },
  ]),
);

type HubSide = Parameters<typeof greetAgent>[1];
type AgentSide = Parameters<typeof answerHub>[1];

const hubSide: HubSide = {
  runId: 'run-1',
  node: 'reader',
  tool: 'read',
  adapter: 'json',
  secret: 'the secret of this run',
  maxFrameBytes: 123_456,
};

const agentSide: AgentSide = {
  node: 'reader',
  tool: 'read',
  adapter: undefined,
  secret: hubSide.secret,
  subscribes: ['doc_init'],
  emits: ['triples'],
  resolveAdapter: async (name) => {
    const adapter = adapters[name];
    if (adapter === undefined)
      throw new MeshError('usage', `unknown adapter "${name}"; known: json, msgpack`);
    return adapter;
  },
  isBusy: () => false,
};

const open: { destroy(): void }[] = [];

afterEach(() => {
  for (const socket of open.splice(0)) socket.destroy();
});

/** From here on time passes only where the test says so: a busy machine takes any time for what is not waiting. */
function stopClock(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
}

/** What each side came to: its agreement, or the error that it threw. */
async function shakeHands(hubChange: Partial<HubSide> = {}, agentChange: Partial<AgentSide> = {}) {
  const { hub, agent } = await loopback();
  open.push(hub, agent);
  const [atHub, atAgent] = await Promise.allSettled([
    greetAgent(hub, { ...hubSide, ...hubChange }),
    answerHub(agent, { ...agentSide, ...agentChange }),
  ]);
  return { hub, agent, atHub, atAgent };
}

/** Reads messages as they come and answers as told: a peer of our own making. */
async function converse(socket: FrameSocket, ...turns: ((heard: Message) => Message)[]): Promise<Message[]> {
  const heard: Message[] = [];
  for (const turn of turns) {
    const message = JSON.parse(String(await socket.nextBlob(1000)));
    heard.push(message);
    socket.sendBlob(Buffer.from(JSON.stringify(turn(message))));
  }
  return heard;
}

type Message = Record<string, string | number | readonly string[]>;

function refusedWith(...parts: string[]): object {
  const message = expect.stringMatching(new RegExp(parts.map((part) => `(?=.*${part})`).join('')));
  return { status: 'rejected', reason: expect.objectContaining({ code: 'handshake', message }) };
}

describe('the handshake', () => {
  it('ends with the same session at both ends', async () => {
    const { atHub, atAgent } = await shakeHands();
    if (atHub.status !== 'fulfilled' || atAgent.status !== 'fulfilled') throw new Error('no agreement');
    expect(atHub.value.session).toMatchObject({ runId: 'run-1', self: 'hub', peer: 'reader' });
    expect(atAgent.value.session).toMatchObject({ runId: 'run-1', self: 'reader', peer: 'hub' });
    expect(atAgent.value.session.linkKey).toEqual(atHub.value.session.linkKey);
    expect(atHub.value.session.linkKey).toHaveLength(32);
    expect(atAgent.value.adapter).toBe(adapters.json);
    expect(atHub.value).toMatchObject({ subscribes: ['doc_init'], emits: ['triples'] });
    expect([atHub.value.maxFrameBytes, atAgent.value.maxFrameBytes]).toEqual([123_456, 123_456]);
  });

  it.each(['HTTP/1.1 400 Bad Request', '[1]', '{"kind":"welcome"}', '{"kind":"hello"}'])(
    'says of an end that answers %s that it is of another kind',
    async (said) => {
      const { hub, agent } = await loopback();
      open.push(hub, agent);
      const greeting = expect(greetAgent(hub, hubSide)).rejects.toMatchObject({
        code: 'handshake',
        message: expect.stringMatching(/does not speak the handshake|unexpected handshake message/),
      });
      agent.sendBlob(Buffer.from(said));
      await greeting;
    },
  );

  it('gives every session another key', async () => {
    const keys = new Set<string>();
    for (let i = 0; i < 3; i++) {
      const { atHub } = await shakeHands();
      if (atHub.status === 'fulfilled') keys.add(Buffer.from(atHub.value.session.linkKey).toString('hex'));
    }
    expect(keys.size).toBe(3);
  });

  it.each([
    ['node', {}, { node: 'writer' }, ['reader', 'writer']],
    ['tool', {}, { tool: 'write' }, ['hub has read', 'agent has write']],
    ['adapter', {}, { adapter: 'msgpack' }, ['hub has json', 'agent has msgpack']],
    ['auth', {}, { secret: '' }, ['hub has hmac', 'agent has open', 'GAIA_MESH_SECRET']],
    ['auth', { secret: '' }, {}, ['hub has open', 'agent has hmac', 'GAIA_MESH_SECRET']],
  ])('names both values where the sides disagree about %s', async (key, hubChange, agentChange, values) => {
    const { hub, agent, atHub, atAgent } = await shakeHands(hubChange, agentChange);
    expect(atHub).toMatchObject(refusedWith(`about ${key}`, ...values));
    expect(atAgent).toMatchObject(refusedWith('refused', `about ${key}`, ...values));
    // The advice about the secret would mislead who has another trouble.
    for (const side of [atHub, atAgent])
      expect(String(side.status === 'rejected' && side.reason).includes('GAIA_MESH_SECRET')).toBe(
        key === 'auth',
      );
    agent.end();
    await Promise.all([hub.closed, agent.closed]);
  });

  it('names both values where the sides speak different versions of the wire', async () => {
    const { hub, agent } = await loopback();
    open.push(hub, agent);
    const greeting = greetAgent(hub, hubSide);
    const turns = converse(agent, (hello) => ({ ...welcomeFor(hello), wire: 2 }));
    await expect(greeting).rejects.toMatchObject({
      code: 'handshake',
      message: expect.stringMatching(/wire: .* 1, .* 2/),
    });
    await turns;
  });

  it('refuses a hub while another one has the agent', async () => {
    const { atHub, atAgent } = await shakeHands({}, { isBusy: () => true });
    expect(atHub).toMatchObject(refusedWith('already works for another hub'));
    expect(atAgent).toMatchObject(refusedWith('already works for another hub'));
  });

  it('refuses an agent with another secret', async () => {
    const { atHub, atAgent } = await shakeHands({}, { secret: 'another secret' });
    expect(atHub).toMatchObject(refusedWith('agent reader could not prove', 'GAIA_MESH_SECRET'));
    expect(atAgent).toMatchObject(refusedWith('could not prove'));
  });

  it('refuses a hub that cannot prove that it knows the secret', async () => {
    for (const proof of ['', '0'.repeat(64), 'mine']) {
      const { hub, agent } = await loopback();
      open.push(hub, agent);
      const answering = answerHub(agent, agentSide);
      hub.sendBlob(Buffer.from(JSON.stringify(helloOf())));
      // The agent's own proof, sent back to it, must not do either.
      const turns = converse(hub, (welcome) => beginWith(proof === 'mine' ? String(welcome.proof) : proof));
      await expect(answering).rejects.toMatchObject({
        code: 'handshake',
        message: expect.stringContaining('the hub could not prove'),
      });
      await turns;
    }
  });

  it('refuses a recorded handshake that is played to it again', async () => {
    // A good handshake, with a listener in the middle who hears all of it.
    const first = await loopback();
    const second = await loopback();
    open.push(first.hub, first.agent, second.hub, second.agent);
    const good = Promise.all([greetAgent(first.hub, hubSide), answerHub(second.agent, agentSide)]);
    const recording: Buffer[] = [];
    for (const [from, to] of [
      [first.agent, second.hub],
      [second.hub, first.agent],
      [first.agent, second.hub],
      [second.hub, first.agent],
    ] as const) {
      const blob = await from.nextBlob(1000);
      recording.push(blob);
      to.sendBlob(blob);
    }
    await good;
    const [hello, welcome, begin, ready] = recording.map((blob) => Buffer.from(blob));
    if (hello === undefined || welcome === undefined || begin === undefined || ready === undefined)
      throw new Error('short');

    const toAgent = await bareDialler();
    open.push(toAgent.bare, toAgent.agent);
    const answering = answerHub(toAgent.agent, agentSide);
    toAgent.bare.write(Buffer.concat([encodeFrame(hello), encodeFrame(begin)]));
    await expect(answering).rejects.toMatchObject({
      code: 'handshake',
      message: expect.stringContaining('could not prove'),
    });

    const toHub = await bareListener();
    open.push(toHub.bare, toHub.hub);
    const greeting = greetAgent(toHub.hub, hubSide);
    toHub.bare.write(Buffer.concat([encodeFrame(welcome), encodeFrame(ready)]));
    await expect(greeting).rejects.toMatchObject({
      code: 'handshake',
      message: expect.stringContaining('could not prove'),
    });
  });

  it('waits for half a message no longer than the time limit, and meanwhile serves others', async () => {
    stopClock();
    const { bare, agent } = await bareDialler();
    open.push(bare, agent);
    bare.write(encodeFrame(Buffer.from(JSON.stringify(helloOf()))).subarray(0, 20));
    let isOver = false;
    const silent = answerHub(agent, { ...agentSide, timeoutMs: 400 });
    silent.catch(() => {
      isOver = true;
    });
    const { atHub } = await shakeHands();
    expect(atHub.status).toBe('fulfilled');
    await vi.advanceTimersByTimeAsync(399);
    expect(isOver, 'it was given up too early').toBe(false);
    // On a busy machine it is given more.
    for (let i = 0; i < 100 && !isOver; i++) await vi.advanceTimersByTimeAsync(100);
    expect(isOver, 'it was not given up').toBe(true);
    await expect(silent).rejects.toMatchObject({
      code: 'handshake',
      message: expect.stringContaining('within 400 ms'),
    });
  });

  it.each([
    ['right behind the last message', 1],
    ['without a handshake', 0],
  ] as const)('keeps packets that come %s until the link starts, in order', async (_when, messagesLeft) => {
    const { hub, agent } = await loopback();
    open.push(hub, agent);
    if (messagesLeft === 0) hub.expectPackets(400_000, 0);
    else
      await Promise.all([
        greetAgent(hub, { ...hubSide, maxFrameBytes: 400_000 }),
        answerHub(agent, agentSide),
      ]);
    const before = hub.bytesRead;
    const lengths = [...Array.from({ length: 100 }, (_, index) => index + 1), 300_000, 7];
    for (const length of lengths) agent.sendBlob(Buffer.alloc(length));
    await vi.waitFor(() => expect(hub.pendingBytes).toBeGreaterThan(0));
    expect(hub.bytesRead - hub.pendingBytes).toBe(before);
    const taken: number[] = [];
    hub.start(400_000, (run) => taken.push(...run.copies().map(({ length }) => length)));
    await vi.waitFor(() => expect(taken).toEqual(lengths));
    expect(hub.pendingBytes).toBe(0);
  });

  it('closes on a flood of messages', async () => {
    const { bare, agent } = await bareDialler();
    open.push(bare, agent);
    bare.on('error', () => undefined);
    const hello = encodeFrame(Buffer.from(JSON.stringify(helloOf())));
    for (let i = 0; i < 50; i++) bare.write(hello);
    await expect(answerHub(agent, agentSide)).rejects.toBeInstanceOf(MeshError);
    agent.end();
    await agent.closed;
    expect(agent.bytesRead).toBeLessThanOrEqual(50 * hello.length);
  });

  it('closes on a message that is too large for a handshake', async () => {
    const { bare, agent } = await bareDialler();
    open.push(bare, agent);
    bare.on('error', () => undefined);
    bare.write(encodeFrame(Buffer.alloc(300_000, ' ')));
    await expect(answerHub(agent, agentSide)).rejects.toMatchObject({ code: 'frame' });
  });
});

function helloOf(): Message {
  return {
    kind: 'hello',
    wire: 1,
    run: 'run-1',
    node: 'reader',
    tool: 'read',
    adapter: 'json',
    auth: 'hmac',
    nonce: 'ab'.repeat(32),
  };
}

function welcomeFor(hello: Message): Message {
  const { node = '', tool = '', adapter = '', auth = '' } = hello;
  const said = { wire: 1, node, tool, adapter, auth, nonce: 'cd'.repeat(32), proof: '0'.repeat(64) };
  return { kind: 'welcome', ...said, subscribes: [], emits: [] };
}

function beginWith(proof: string): Message {
  return { kind: 'begin', proof, max_frame: 1024 };
}
