import { describe, expect, test, vi } from 'vitest';
import type { ProtocolAdapter } from '../contracts/adapter.ts';
import { MeshError } from '../contracts/errors.ts';
import { DOC_INIT, type PacketHead } from '../contracts/packet.ts';
import type { Emission } from '../contracts/tool.ts';
import { buildRunLedger } from '../run/metrics/run-ledger.ts';
import { answering, final, passing } from '../testing/flow-tools.ts';
import { plain, startMesh, toolOf } from '../testing/mesh.ts';
import { onPackets } from '../testing/packet-observer.ts';

describe('a task', () => {
  test('goes from agent to agent to its answer, over an adapter that nobody knows (MP-05, MP-32)', async () => {
    const { ask, network } = await startMesh([
      passing(DOC_INIT, 'a'),
      passing('a', 'b'),
      toolOf('b', 'data_event', async ({ payload }) => [final(String(payload.text))]),
    ]);

    const outcome = await ask('t', { text: 'Zoë 🏁' });

    expect(outcome).toMatchObject({ taskId: 't', status: 'answered', answer: 'Zoë 🏁' });
    expect([...network.typeCounts.keys()]).toEqual(['a', 'b', 'data_event']);
  });

  test('counts whole frames: each broadcast and each copy that is written, each packet that is read (MP-41, MP-42)', async () => {
    const frames: { blob: string; bytes: number }[] = [];
    const { ask, network } = await startMesh(
      [passing(DOC_INIT, 'a'), passing('b', 'c'), answering(42, 'a')],
      {
        observer: {
          ...onPackets(({ head, frameBytes }) => frames.push({ blob: head.type, bytes: frameBytes })),
          broadcast: (_packet, _times, bytes) => frames.push({ blob: DOC_INIT, bytes }),
        },
      },
    );

    const { counts, answer } = await ask('t', { text: 'x' });

    expect(answer).toBe('42');
    expect(frames.map((frame) => frame.blob)).toEqual([DOC_INIT, 'a', 'data_event']);
    const [init = 0, first = 0, last = 0] = frames.map((frame) => frame.bytes);
    expect(counts).toEqual({
      init_bytes: 3 * init,
      bytes_rx: first + last,
      bytes_tx: 3 * init + 2 * (first + last),
      pkt_cnt: 2,
      token_sum: 0,
    });
    await network.settle();
    const ledger = buildRunLedger(network);
    expect(ledger).toMatchObject({ balanced: true, differences: [] });
    expect(ledger.read.packets).toBe(first + last);
    expect(ledger.written.packets).toBe(counts.bytes_tx);
  });

  test('runs beside others, each with its own clock, counters and answer', async () => {
    const { ask } = await startMesh([
      passing(DOC_INIT, 'a'),
      toolOf('a', 'data_event', async ({ payload }) => [final(`to ${payload.text}`)]),
    ]);

    const outcomes = await Promise.all(
      Array.from({ length: 50 }, (_, i) => ask(`t-${i}`, { text: `q${i}` })),
    );

    expect(outcomes.map((outcome) => outcome.answer)).toEqual(outcomes.map((_, i) => `to q${i}`));
    for (const outcome of outcomes) expect(outcome.counts.pkt_cnt).toBe(2);
  });

  test('is refused when one of its id is running', async () => {
    const { ask } = await startMesh([toolOf(DOC_INIT, 'data_event', () => new Promise(() => undefined))]);
    const controller = new AbortController();
    const first = ask('t', {}, 20_000, controller.signal);

    await expect(ask('t')).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('unique'),
    });
    controller.abort();
    expect(await first).toMatchObject({ status: 'failed', reason: 'interrupted', answer: null });
  });

  test('that nobody answers ends at its own timeout; the next one is unharmed', async () => {
    const { ask } = await startMesh([
      toolOf(DOC_INIT, 'data_event', async ({ task_id }) => (task_id === 'quiet' ? [] : [final('yes')])),
    ]);

    const [quiet, loud] = await Promise.all([ask('quiet', {}, 50), ask('loud')]);

    expect(quiet).toMatchObject({ status: 'timeout', answer: null, reason: 'no final answer within 0.05 s' });
    expect(quiet.elapsedMs).toBeGreaterThanOrEqual(49);
    expect(loud).toMatchObject({ status: 'answered', answer: 'yes' });
  });

  test('fails alone when its document does not fit a frame; the next one is unharmed', async () => {
    const { ask, network } = await startMesh([answering('yes')], { maxFrameBytes: 1024 });

    expect(await ask('big', { text: 'x'.repeat(1024) })).toMatchObject({
      status: 'failed',
      reason: expect.stringMatching(/^the document takes \d+ bytes as a packet; a frame has at most 1024/),
    });
    expect(network.initBytes).toBe(0);
    expect(await ask('small', { text: 'x' })).toMatchObject({ status: 'answered' });
  });

  test('is over with its first final answer, which is relayed like any other packet (MP-43, MP-44)', async () => {
    const relayed: (string | undefined)[] = [];
    const { ask } = await startMesh(
      [
        passing('nothing', 'nothing'),
        toolOf(DOC_INIT, 'data_event', async () => [final('first'), final('second')]),
      ],
      { observer: onPackets(({ head, recipients }) => relayed.push(`${head.tag} ${recipients}`)) },
    );

    expect(await ask('t')).toMatchObject({ answer: 'first' });
    expect(relayed).toEqual(['final_answer 1', 'final_answer 1']);
  });
});

describe('what agents send', () => {
  test('reaches all others as the bytes that came, and never its sender (MP-11, MP-12)', async () => {
    const heard = new Map<string, string[]>();
    const sent: string[] = [];
    const listening: ProtocolAdapter = {
      name: 'listening',
      open(session) {
        const codec = plain.open(session);
        return {
          ...codec,
          encode(packet) {
            const blob = codec.encode(packet);
            if (packet.type === 'a') sent.push(Buffer.from(blob).toString('hex'));
            return blob;
          },
          decode(blob) {
            const packet = codec.decode(blob);
            if (packet.type === 'a' && session.self !== 'hub') {
              // A codec that cannot peek is asked twice.
              const blobs = new Set(heard.get(session.self)).add(Buffer.from(blob).toString('hex'));
              heard.set(session.self, [...blobs]);
            }
            return packet;
          },
        };
      },
    };
    const { ask } = await startMesh(
      [
        toolOf(DOC_INIT, 'a', async () =>
          [1, 2, 3].map((n) => ({ type: 'a', payload: { n, text: 'é'.repeat(n) } })),
        ),
        passing('nothing', 'nothing'),
        toolOf('a', 'data_event', async ({ payload }) => (payload.n === 3 ? [final('done')] : [])),
      ],
      { adapter: listening },
    );

    await ask('t');

    expect(sent).toHaveLength(3);
    // The task is over with the answer of agent 2; what agent 1 has read by then is not said.
    await expect.poll(() => heard.get('1')).toEqual(sent);
    expect([...heard.keys()].sort()).toEqual(['1', '2']);
    expect(heard.get('2')).toEqual(sent);
  });

  test.each([
    ['a packet in another’s name', { from: '1' }, 'claims to be from 1'],
    [
      'a final answer of another than the final agent',
      { tag: 'final_answer', payload: { answer: 'x' } },
      'only 2 may',
    ],
  ])('is dropped and counted when it is %s', async (_what, forged, reason) => {
    const refused: string[] = [];
    const forging: ProtocolAdapter = {
      name: 'forging',
      open(session) {
        const codec = plain.open(session);
        return {
          ...codec,
          encode: (packet) => codec.encode(packet.type === 'a' ? { ...packet, ...forged } : packet),
        };
      },
    };
    const { ask, network } = await startMesh(
      [passing(DOC_INIT, 'a'), passing('a', 'b'), toolOf(DOC_INIT, 'data_event', async () => [])],
      {
        adapter: forging,
        observer: { refused: (node, why, bytes) => refused.push(`${node} ${why} ${bytes > 0}`) },
      },
    );

    expect(await ask('t', {}, 200)).toMatchObject({ status: 'timeout', counts: { pkt_cnt: 0 } });
    // The packet may come after the deadline on a busy machine: the hub refuses it all the same.
    await vi.waitFor(() => expect(refused).toEqual([expect.stringContaining(reason)]), { timeout: 60_000 });
    expect(network.links[0]?.counts).toMatchObject({ refusedPackets: 1, packetsRx: 0 });
    expect(network.links[0]?.alive).toBe(true);
  });

  test.each([{ answer: null }, { answer: ['x'] }, {}])(
    'is no final answer when its payload is %j',
    async (payload) => {
      const { ask, network } = await startMesh([
        toolOf(DOC_INIT, 'data_event', async () => [
          { type: 'data_event', tag: 'final_answer', payload } as Emission,
        ]),
      ]);

      expect(await ask('t', {}, 100)).toMatchObject({ status: 'timeout' });
      await vi.waitFor(() => expect(network.links[0]?.counts.refusedPackets).toBe(1), { timeout: 60_000 });
    },
  );

  test('ends its task when it says that the work failed; a bug is told from what was foreseen', async () => {
    const { ask } = await startMesh([
      toolOf(DOC_INIT, 'data_event', async ({ task_id }) => {
        throw task_id === 'bug'
          ? new TypeError('x is undefined')
          : new MeshError('engine', 'the model is missing');
      }),
    ]);

    expect(await ask('foreseen')).toMatchObject({
      status: 'failed',
      reason: expect.stringMatching(/: the model is missing$/),
    });
    expect(await ask('bug')).toMatchObject({
      status: 'failed',
      reason: expect.stringMatching(/bug: x is undefined/),
    });
  });
});

describe('routing', () => {
  const addressing = (to: string) =>
    toolOf(DOC_INIT, 'a', async () => [{ type: 'a', to, payload: {} } satisfies Emission]);

  test.each([
    ['broadcast', 2],
    ['direct', 1],
  ] as const)(
    '%s takes an addressed packet to %d agents, and only its addressee works on it',
    async (routing, copies) => {
      const heads: [PacketHead, number][] = [];
      const worked: string[] = [];
      const working = (name: string) =>
        toolOf('a', 'data_event', async () => {
          worked.push(name);
          return [final(name)];
        });
      const { ask } = await startMesh([addressing('2'), working('bystander'), working('addressee')], {
        routing,
        observer: onPackets(({ head, recipients }) => heads.push([head, recipients])),
      });

      expect(await ask('t')).toMatchObject({ answer: 'addressee' });
      expect(heads[0]).toEqual([expect.objectContaining({ type: 'a', to: '2' }), copies]);
      expect(worked).toEqual(['addressee']);
    },
  );

  test('holds agents to whom they may call', async () => {
    const refused: string[] = [];
    const { ask } = await startMesh([addressing('2'), passing('x', 'y'), answering('yes', 'a')], {
      mayCall: { 0: ['1'] },
      observer: { refused: (_node, reason) => refused.push(reason) },
    });

    expect(await ask('t', {}, 100)).toMatchObject({ status: 'timeout' });
    await vi.waitFor(() => expect(refused).toEqual(['0 may not call 2 (may_call of the team file)']), {
      timeout: 60_000,
    });
  });

  test('gives a packet to nobody when its addressee is not there', async () => {
    const copies: number[] = [];
    const { ask } = await startMesh([addressing('9'), answering('yes', 'a')], {
      routing: 'direct',
      observer: onPackets(({ recipients }) => copies.push(recipients)),
    });

    expect(await ask('t', {}, 100)).toMatchObject({ status: 'timeout' });
    await vi.waitFor(() => expect(copies).toEqual([0]), { timeout: 60_000 });
  });
});
