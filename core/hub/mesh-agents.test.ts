import net from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { AGENT_LIMITS, LINK_LIMITS } from '../contracts/limits.ts';
import { DOC_INIT, type JsonObject } from '../contracts/packet.ts';
import { answering, final } from '../testing/flow-tools.ts';
import { plain, startMesh, toolOf } from '../testing/mesh.ts';
import { FrameSocket } from '../transports/tcp/frame-socket.ts';
import { answerHub } from '../wire/handshake.ts';
import type { MeshNode } from './link.ts';

describe('an agent', () => {
  test('does nothing about packets that are not for its tool (MP-16)', async () => {
    const run = vi.fn(async () => [final('no')]);
    const { ask, network } = await startMesh([
      toolOf('something else', 'data_event', run),
      toolOf(DOC_INIT, 'data_event', async () => [final('yes')]),
    ]);

    await ask('t');
    await network.settle();

    expect(run).not.toHaveBeenCalled();
    expect(network.links[0]?.ledgerReport).toMatchObject({ sent: [], received: { packets: 2 } });
  });

  test('counts the tokens of each packet apart, however they overlap (MP-52)', async () => {
    const { ask } = await startMesh([
      toolOf(DOC_INIT, 'data_event', async ({ payload }, { countTokens }) => {
        const tokens = Number(payload.tokens);
        for (let i = 0; i < tokens; i++) {
          countTokens(1);
          await new Promise((resolve) => setImmediate(resolve));
        }
        return [final(tokens)];
      }),
    ]);

    const outcomes = await Promise.all([3, 50, 0, 17].map((tokens) => ask(`t-${tokens}`, { tokens })));

    expect(outcomes.map((outcome) => outcome.counts.token_sum)).toEqual([3, 50, 0, 17]);
  });

  test('reads on while its tool is slow, up to its limit, and works on all in the end (MP-53)', async () => {
    let working = 0;
    let most = 0;
    const gate = Promise.withResolvers<void>();
    const { ask } = await startMesh([
      toolOf(DOC_INIT, 'data_event', async ({ task_id }) => {
        working += 1;
        most = Math.max(most, working);
        await gate.promise;
        working -= 1;
        return [final(task_id)];
      }),
    ]);
    const count = AGENT_LIMITS.packets + 100;
    // Larger than what one read brings, so that stopping to read can show.
    const text = 'x'.repeat(20_000);
    const tasks = Array.from({ length: count }, (_, i) => ask(`t-${i}`, { text }));
    await vi.waitFor(() => expect(working).toBeGreaterThanOrEqual(AGENT_LIMITS.packets), {
      timeout: 60_000,
    });
    gate.resolve();

    const outcomes = await Promise.all(tasks);
    expect(outcomes.map((outcome) => outcome.answer)).toEqual(outcomes.map((_, i) => `t-${i}`));
    // What one read had already brought comes on top of the limit, no more: the rest waited in the connection.
    expect(most).toBeLessThan(count);
  });
});

describe('an agent that is lost', () => {
  test('is named; a task that could only be answered through it ends, another goes on (MP-77)', async () => {
    const lost: string[] = [];
    const { ask, agents } = await startMesh(
      [
        toolOf(DOC_INIT, 'a', async ({ task_id }) =>
          task_id === 'early' ? [{ type: 'a', payload: {} }] : [],
        ),
        toolOf('a', 'data_event', async () => {
          await agents[0]?.stop();
          return [final('yes')];
        }),
      ],
      { observer: { agentLost: (node, reason) => lost.push(`${node.id} ${reason}`) } },
    );

    const [early, late] = await Promise.all([ask('early'), ask('late')]);

    expect(early).toMatchObject({ status: 'answered', answer: 'yes' });
    expect(late).toMatchObject({ status: 'failed', reason: expect.stringContaining('agent 0') });
    expect(lost).toEqual([expect.stringMatching(/^0 /)]);
    // A task that begins now cannot be answered either, and says so at once.
    expect(await ask('later')).toMatchObject({ status: 'failed' });
  });
});

describe('an agent that takes no bytes', () => {
  /** Goes through the handshake and never reads again. */
  async function stalledNode(): Promise<MeshNode> {
    const server = net.createServer(async (connection) => {
      const socket = FrameSocket.accept(connection);
      await answerHub(socket, {
        node: 'stalled',
        tool: 'stalled',
        adapter: undefined,
        secret: 'a secret',
        subscribes: [],
        emits: [],
        resolveAdapter: async () => plain,
        isBusy: () => false,
      });
      socket.pause();
    });
    await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', port: 0 }, resolve));
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    return { id: 'stalled', tool: 'stalled', port, secret: 'a secret' };
  }

  // Far more than the system's own buffers on both sides hold.
  const document: JsonObject = { chunks: Array.from({ length: 28 }, () => 'x'.repeat(1024 * 1024)) };

  test('is cut off by name after its time, and the others go on (MP-22)', async () => {
    const node = await stalledNode();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { promise: lost, resolve } = Promise.withResolvers<string>();
    const { ask, network } = await startMesh([answering('yes')], {
      nodes: [node],
      observer: { agentLost: ({ id }, reason) => resolve(`${id}: ${reason}`) },
    });
    const task = ask('t', document, 60_000);
    const link = network.links.find(({ node }) => node.id === 'stalled');
    expect(link?.socket.queuedBytes).toBeGreaterThan(20 * 1024 * 1024);
    await network.links[0]?.socket.drained();
    await vi.advanceTimersByTimeAsync(LINK_LIMITS.stallMs - 1);
    expect(link?.alive).toBe(true);
    await vi.advanceTimersByTimeAsync(1);

    expect(await lost).toBe('stalled: took no bytes for 10 s with a full queue');
    expect(await task).toMatchObject({ status: 'answered', answer: 'yes' });
  });
});
