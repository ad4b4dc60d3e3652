import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { toErrorMessage } from '../contracts/errors.ts';
import { DOC_INIT } from '../contracts/packet.ts';
import { callType, type Tool, type ToolContext, toResultType } from '../contracts/tool.ts';
import { buildRunLedger } from '../run/metrics/run-ledger.ts';
import { type MeshOptions, startMesh, toolOf } from '../testing/mesh.ts';
import { onPackets } from '../testing/packet-observer.ts';

/** A tool that is asked: it answers with what `work` makes of the payload. */
function asked(name: string, work: (payload: { n: number }, context: ToolContext) => Promise<object>): Tool {
  return {
    name,
    description: '',
    accepts: [callType(name)],
    emits: [toResultType(name)],
    async run(packet, context) {
      const payload = await work({ n: Number(packet.payload.n) }, context);
      return [{ type: toResultType(name), to: packet.from, reply_to: packet.id, payload: { ...payload } }];
    },
  };
}

/** Asks on the way from the document to the answer. */
const asking = (work: (n: number, context: ToolContext) => Promise<string>): Tool =>
  toolOf(DOC_INIT, 'data_event', async (packet, context) => {
    const answer = await work(Number(packet.payload.n), context);
    return [{ type: 'data_event', tag: 'final_answer', payload: { answer } }];
  });

const doubling = asked('double', async ({ n }, { countTokens }) => {
  countTokens(100);
  return { n: 2 * n };
});

const direct: MeshOptions = { routing: 'direct', mayCall: { 0: [], 1: ['0'] } };

describe('a request', () => {
  test('is answered by the agent that it is addressed to, on the way to the answer (MP-74)', async () => {
    const relayed: string[] = [];
    const { ask } = await startMesh(
      [
        doubling,
        asking(async (n, context) => {
          const first = await context.ask('0', { n });
          const second = await context.ask('0', { n: Number(first.n) });
          return String(second.n);
        }),
      ],
      {
        ...direct,
        observer: onPackets(({ head }) => relayed.push(`${head.from}>${head.to ?? '*'} ${head.type}`)),
      },
    );

    expect(await ask('t', { n: 3 })).toMatchObject({ status: 'answered', answer: '12' });
    expect(relayed).toEqual([
      '1>0 double.call',
      '0>1 double.result',
      '1>0 double.call',
      '0>1 double.result',
      '1>* data_event',
    ]);
  });

  test('of one task never gets the reply of another, and tokens are counted once each', async () => {
    const { ask } = await startMesh(
      [
        doubling,
        asking(async (n, context) => {
          context.countTokens(1);
          const reply = await context.ask('0', { n });
          context.countTokens(10);
          return String(reply.n);
        }),
      ],
      direct,
    );

    const outcomes = await Promise.all(Array.from({ length: 20 }, (_, n) => ask(`t-${n}`, { n })));

    expect(outcomes.map(({ answer }) => answer)).toEqual(outcomes.map((_, n) => String(2 * n)));
    for (const { counts } of outcomes) expect(counts).toMatchObject({ token_sum: 111, pkt_cnt: 3 });
  });

  test('to an agent that is not in may_call is not even sent (OV-05)', async () => {
    const { ask } = await startMesh(
      [
        doubling,
        asked('other', async () => ({})),
        asking(async (_n, context) => String(await context.ask('1', {}))),
      ],
      { routing: 'direct', mayCall: { 2: ['0'] } },
    );

    const outcome = await ask('t', { n: 1 });

    expect(outcome).toMatchObject({ status: 'failed', reason: expect.stringContaining('2 may not ask 1') });
    expect(outcome.counts.pkt_cnt).toBe(1);
  });

  test('that breaks may_call all the same is refused by the hub; an answer to who asked is not', async () => {
    const refused: string[] = [];
    const talkative = toolOf(DOC_INIT, 'double.call', async () => [
      { type: 'double.call', to: '0', payload: { n: 1 } },
    ]);
    const { ask } = await startMesh(
      [doubling, talkative, asking(async (n, context) => String((await context.ask('0', { n })).n))],
      {
        routing: 'direct',
        mayCall: { 0: [], 1: [], 2: ['0'] },
        observer: { refused: (node, reason) => refused.push(`${node}: ${reason}`) },
      },
    );

    expect(await ask('t', { n: 4 })).toMatchObject({ answer: '8' });
    // Nothing orders the packet of agent 1 before the answer of agent 2.
    await expect.poll(() => refused).toEqual(['1: 1 may not call 0 (may_call of the team file)']);
  });

  test('that takes too long fails with the name of who was asked', async () => {
    const { ask } = await startMesh(
      [
        asked('double', () => new Promise(() => undefined)),
        asking(async (n, context) => String((await context.ask('0', { n }, { timeoutMs: 20 })).n)),
      ],
      direct,
    );

    expect(await ask('t', { n: 1 })).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining('0 did not reply within 0.02 s'),
    });
  });

  test('is given up with a signal, by which whoever asked can tell that it was that', async () => {
    const { ask } = await startMesh(
      [
        asked('double', () => new Promise(() => undefined)),
        asking(async (n, context) => {
          const time = AbortSignal.timeout(20);
          const failures = [];
          for (const signal of [time, AbortSignal.abort()]) {
            const failure = await context.ask('0', { n }, { signal }).catch(toErrorMessage);
            failures.push(`${failure}, ${signal.aborted}`);
          }
          return failures.join('; ');
        }),
      ],
      direct,
    );

    const why = '0 did not reply in the remaining time, true';
    expect(await ask('t', { n: 1 })).toMatchObject({ answer: `${why}; ${why}` });
  });

  test('to an agent that dies fails at once, and so does the next one', async () => {
    const { ask, agents } = await startMesh(
      [
        asked('double', async () => {
          await agents[0]?.stop();
          return {};
        }),
        asking(async (n, context) => {
          const reasons: string[] = [];
          for (let i = 0; i < 2; i++)
            await context.ask('0', { n }).catch((error) => reasons.push(error.message));
          return reasons.join('; ');
        }),
      ],
      direct,
    );

    expect(await ask('t', { n: 1 })).toMatchObject({ answer: 'agent 0 is gone; agent 0 is gone' });
  });

  test('is given up when its task has ended, and the agent works on for others', async () => {
    const stopped: string[] = [];
    const begun = Promise.withResolvers<void>();
    const { ask } = await startMesh(
      [
        asked('double', ({ n }, { signal }) => {
          if (n > 0) return Promise.resolve({ n: 2 * n });
          return new Promise((_, reject) => {
            signal.addEventListener('abort', () => {
              stopped.push('tool');
              reject(signal.reason);
            });
            begun.resolve();
          });
        }),
        asking(async (n, context) => {
          context.signal.addEventListener('abort', () => stopped.push('asker'));
          return String((await context.ask('0', { n })).n);
        }),
      ],
      direct,
    );

    // The time is up once both work on it, however long a busy machine takes to get there.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const late = ask('t-1', { n: 0 }, 50);
    await begun.promise;
    await vi.advanceTimersByTimeAsync(50);
    vi.useRealTimers();
    expect(await late).toMatchObject({ status: 'timeout' });
    expect(await ask('t-2', { n: 5 })).toMatchObject({ answer: '10' });
    expect(stopped.sort()).toEqual(['asker', 'tool']);
  });
});

describe('a task with a bound on its tokens', () => {
  test('fails when its agents have used more', async () => {
    const { network } = await startMesh(
      [
        doubling,
        asking(async (n, context) => {
          for (let i = 0; i < 10; i++) await context.ask('0', { n });
          return 'done';
        }),
      ],
      direct,
    );

    const outcome = await network.runTask(
      { taskId: 't', payload: { n: 1 }, timeoutMs: 20_000, taskTokens: 300 },
      new AbortController().signal,
    );

    expect(outcome).toMatchObject({ status: 'failed', reason: 'it took 400 tokens; 300 are allowed' });
  });
});

describe('a routing', () => {
  /** Copies of each packet type, with two askers' tools and one that only listens. */
  async function copies(routing: 'broadcast' | 'topic' | 'direct') {
    const counts: Record<string, number> = {};
    const { ask, network } = await startMesh(
      [
        doubling,
        asked('double', async ({ n }) => ({ n: 3 * n })),
        toolOf('nothing', 'nothing', async () => []),
        asking(async (n, context) => String((await context.ask('0', { n })).n)),
      ],
      {
        routing,
        mayCall: { 3: ['0'] },
        observer: onPackets(({ head, recipients }) => {
          counts[head.type] = recipients;
        }),
      },
    );
    expect(await ask('t', { n: 3 })).toMatchObject({ answer: '6' });
    await network.settle();
    expect(buildRunLedger(network)).toMatchObject({ balanced: true });
    return counts;
  }

  test('by broadcast sends every packet to all others', async () => {
    expect(await copies('broadcast')).toEqual({ 'double.call': 3, 'double.result': 3, data_event: 3 });
  });

  test('by topic sends it to those who subscribe to its type, whomever it is addressed to', async () => {
    expect(await copies('topic')).toEqual({ 'double.call': 2, 'double.result': 1, data_event: 0 });
  });

  test('direct sends an addressed packet to its addressee alone', async () => {
    expect(await copies('direct')).toEqual({ 'double.call': 1, 'double.result': 1, data_event: 3 });
  });
});
