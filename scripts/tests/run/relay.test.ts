import { once } from 'node:events';
import net from 'node:net';
import { readSystemCode } from '@gaia-mesh/core/contracts/errors.ts';
import { MAX_FRAME_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import { MeshNetwork, type MeshNetworkOptions } from '@gaia-mesh/core/hub/mesh-network.ts';
import { createRouter } from '@gaia-mesh/core/hub/routing.ts';
import { Random } from '@gaia-mesh/core/system/random.ts';
import { encodeFrame } from '@gaia-mesh/core/wire/frame.ts';
import { json } from '@gaia-mesh/protocols/json.ts';
import { listenOnPlace } from '@gaia-mesh/stacks/listen.ts';
import { expect, onTestFinished, test } from 'vitest';

/** A foreign agent that keeps every byte that it got. */
class Keeper {
  readonly port: number;
  readonly chunks: Buffer[] = [];
  readonly #server: net.Server;
  socket: net.Socket | undefined;
  fault: string | undefined;

  private constructor(server: net.Server, port: number) {
    this.#server = server;
    this.port = port;
    server.on('connection', (socket) => {
      this.socket = socket;
      socket.on('error', (error) => {
        this.fault = readSystemCode(error);
      });
      socket.on('data', (chunk: Buffer) => this.chunks.push(chunk));
    });
    onTestFinished(() => {
      this.socket?.destroy();
      this.#server.close();
    });
  }

  static async listen(): Promise<Keeper> {
    const server = net.createServer();
    return new Keeper(server, await listenOnPlace(server, { port: 0 }));
  }

  get byteCount(): number {
    return this.chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  }

  /** What came from each agent, in order. */
  streams(): Map<string, Buffer> {
    const bytes = Buffer.concat(this.chunks);
    const frames = new Map<string, Buffer[]>();
    let at = 0;
    for (; at < bytes.length; ) {
      const end = at + 4 + bytes.readUInt32BE(at);
      const frame = bytes.subarray(at, end);
      const from = /"from":\s?"(\d+)"/.exec(frame.toString('latin1', 4, 80))?.[1] ?? '?';
      frames.set(from, [...(frames.get(from) ?? []), frame]);
      at = end;
    }
    expect(at).toBe(bytes.length);
    return new Map([...frames].map(([from, each]) => [from, Buffer.concat(each)]));
  }
}

async function meshOf(agents: readonly Keeper[], options: Partial<MeshNetworkOptions> = {}) {
  const network = await MeshNetwork.connect({
    runId: 'relay',
    adapter: json,
    secret: '',
    nodes: agents.map(({ port }) => ({ id: 'any', tool: 'any', port, secret: '' })),
    final: null,
    router: createRouter('broadcast'),
    observer: {},
    maxFrameBytes: MAX_FRAME_BYTES,
    skipsHandshake: true,
    ...options,
  });
  onTestFinished(() => network.close());
  await expect.poll(() => agents.every(({ socket }) => socket !== undefined)).toBe(true);
  return network;
}

interface Sent {
  readonly frame: Buffer;
  readonly tokens: number;
  readonly isRefused: boolean;
}

/** Small packets mostly, some in another layout, some that are none, and some as large as several slabs. */
function anyFrame(random: Random, from: number, n: number): Sent {
  const bytes = random.uniform() < 0.02 ? 900_000 : random.uniform() < 0.1 ? 30_000 : 300;
  const token_used = random.integer(100);
  const packet = {
    type: random.uniform() < 0.5 ? 'a' : 'b',
    from: String(from),
    id: `${from}-${n}`,
    task_id: 't',
    token_used,
    ts: 1,
    payload: { text: 'x'.repeat(random.integer(bytes)) },
  };
  if (random.uniform() < 0.05)
    return { frame: encodeFrame(Buffer.from('{"no":1}')), tokens: 0, isRefused: true };
  const text = random.uniform() < 0.1 ? JSON.stringify(packet, null, 1) : JSON.stringify(packet);
  return { frame: encodeFrame(Buffer.from(text)), tokens: token_used, isRefused: false };
}

test.each([1])(
  'every agent gets what each other one sent, whole and in order, however it comes (seed %i)',
  async (seed) => {
    const random = new Random(seed);
    const agents = await Promise.all([0, 1, 2, 3].map(() => Keeper.listen()));
    const network = await meshOf(agents);
    const sent = agents.map((_, from) => Array.from({ length: 400 }, (_, n) => anyFrame(random, from, n)));
    const good = sent.map((frames) =>
      Buffer.concat(frames.flatMap((each) => (each.isRefused ? [] : [each.frame]))),
    );
    await Promise.all(
      agents.map(async ({ socket }, from) => {
        const stream = Buffer.concat((sent[from] ?? []).map(({ frame }) => frame));
        for (let at = 0; at < stream.length; ) {
          const end = at + 1 + random.integer(random.uniform() < 0.5 ? 2000 : 200_000);
          if (socket?.write(stream.subarray(at, end)) === false) await once(socket, 'drain');
          if (random.uniform() < 0.5) await new Promise((resolve) => setImmediate(resolve));
          at = end;
        }
      }),
    );
    const wanted = (to: number) =>
      good.reduce((sum, bytes, from) => sum + (from === to ? 0 : bytes.length), 0);
    await expect
      .poll(() => agents.map(({ byteCount }) => byteCount), { timeout: 60_000 })
      .toEqual(agents.map((_, to) => wanted(to)));
    for (const [to, agent] of agents.entries()) {
      const streams = agent.streams();
      expect([...streams.keys()].sort()).toEqual(
        agents.flatMap((_, from) => (from === to ? [] : [String(from)])),
      );
      for (const [from, bytes] of streams) expect(bytes.equals(good[Number(from)] ?? Buffer.of())).toBe(true);
    }
    for (const [i, { counts, socket }] of network.links.entries()) {
      const frames = sent[i] ?? [];
      expect(counts).toMatchObject({
        packetsRx: frames.filter(({ isRefused }) => !isRefused).length,
        bytesRx: good[i]?.length,
        tokens: frames.reduce((sum, { tokens }) => sum + tokens, 0),
        refusedPackets: frames.filter(({ isRefused }) => isRefused).length,
        packetsTx: sent.flat().filter((each) => !each.isRefused && !frames.includes(each)).length,
        bytesTx: wanted(i),
      });
      expect(socket.bytesWritten).toBe(wanted(i));
    }
    const byType = [...network.typeCounts.values()];
    expect(byType.reduce((sum, { bytes_tx }) => sum + bytes_tx, 0)).toBe(
      agents.reduce((sum, _, to) => sum + wanted(to), 0),
    );
  },
);

test('one that never reads stops the others until it is cut off by name; then they have all', async () => {
  const agents = await Promise.all([0, 1, 2].map(() => Keeper.listen()));
  const lost: string[] = [];
  const network = await meshOf(agents, {
    stallTimeoutMs: 300,
    observer: { agentLost: (node, reason) => lost.push(`${node.id}: ${reason}`) },
  });
  const [a, b, stuck] = agents;
  stuck?.socket?.pause();
  const frame = encodeFrame(
    Buffer.from(
      JSON.stringify({
        type: 'a',
        from: 'a',
        id: 'x',
        task_id: 't',
        token_used: 1,
        ts: 1,
        payload: { text: 'x'.repeat(4000) },
      }),
    ),
  );
  // Several times what the queue and the system's buffers hold.
  const count = Math.ceil((40 * 1024 * 1024) / frame.length);
  for (let n = 0; n < count; n++) {
    if (a?.socket?.write(frame) === false) await once(a.socket, 'drain');
  }
  await expect.poll(() => b?.byteCount, { timeout: 60_000 }).toBe(count * frame.length);
  expect(lost).toEqual([`port-${stuck?.port}: took no bytes for 0.3 s with a full queue`]);
  expect(network.links.map(({ alive }) => alive)).toEqual([true, true, false]);
  expect(network.links[0]?.counts.packetsRx).toBe(count);
  // Reset: it does not get what was in the system's buffers, and cannot believe that it has all.
  stuck?.socket?.resume();
  await expect.poll(() => stuck?.fault).toBe('ECONNRESET');
});
