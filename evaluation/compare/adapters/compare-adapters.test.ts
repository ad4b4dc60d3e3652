import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { createLedgerLine } from '@gaia-mesh/core/contracts/ledger.ts';
import type { Round } from '@gaia-mesh/core/recording/replay/replay-mesh.ts';
import { Random } from '@gaia-mesh/core/system/random.ts';
import { temporaryFolder } from '@gaia-mesh/core/testing/temporary-folder.ts';
import { loadAdapter } from '@gaia-mesh/protocols/registry.ts';
import { describe, expect, test } from 'vitest';
import { sampleRecording } from '../testing/sample-recording.ts';
import { compareAdapters } from './compare-adapters.ts';

interface Simulated {
  /** How long a pass takes, and the processes that a start costs. */
  readonly ms?: (adapter: string) => number;
  readonly processes?: number;
  readonly design?: { invocations?: number; rounds?: number; budgetMs?: number };
  /** Starts, counted from 1, that fail. */
  readonly lost?: ReadonlySet<number>;
  /** The error of an adapter that fails whenever it is played. */
  readonly breaks?: (adapter: string) => MeshError | false;
  /** It is interrupted at this start. */
  readonly last?: number;
}

/** Meshes whose passes take no time, and what became of them. */
async function compareSimulated({
  ms = () => 40,
  processes = 4,
  design,
  lost,
  last,
  breaks,
}: Simulated = {}) {
  const controller = new AbortController();
  const seen = { started: 0, alive: 0, mostAlive: 0, passes: [] as number[] };
  const startMesh = async ({ signal }: { signal: AbortSignal }) => {
    seen.started += 1;
    if (lost?.has(seen.started)) throw new MeshError('agent', 'agent 2 on port 9002: no handshake message');
    if (seen.started === last) controller.abort(new Error('interrupted'));
    signal.throwIfAborted();
    seen.alive += 1;
    seen.mostAlive = Math.max(seen.mostAlive, seen.alive);
    return {
      play: async ({ name }: { name: string }, passes = 1): Promise<Round> => {
        const error = breaks?.(name) ?? false;
        if (error !== false) throw error;
        seen.passes.push(passes);
        const total = { ...createLedgerLine(), wire: 100 * passes };
        const ledger = { types: {}, total, written: { packets: 1 }, read: { packets: 1 } };
        const groups = { parts: [], sizes: [] };
        const figures = {
          ...groups,
          adapter: name,
          passes,
          elapsedMs: ms(name) * passes,
          ledger,
          sessionBytes: 1,
        };
        return { ...figures, encodeUs: passes, decodeUs: passes, cpuUs: 500 * passes } as unknown as Round;
      },
      stop: async () => {
        seen.alive -= 1;
      },
    };
  };
  const [document, ...others] = sampleRecording.packets;
  const comparison = await compareAdapters(
    {
      header: {
        ...sampleRecording.header,
        agents: Array.from({ length: processes }, (_, id) => ({ id: String(id), tool: 'search' })),
      },
      packets: document === undefined ? others : [document, document, ...others],
    },
    {
      arms: [await loadAdapter('json'), await loadAdapter('cbor')],
      design: { invocations: 6, rounds: 3, budgetMs: 60_000, ...design },
      margin: 0.05,
      maxAgents: processes,
      seed: 1,
      network: null,
      workspaces: temporaryFolder(),
    },
    {
      random: new Random(1),
      onProgress: () => undefined,
      onNote: () => undefined,
      signal: controller.signal,
      command: 'compare',
    },
    startMesh,
  );
  return { ...comparison, seen };
}

/** One to find out how long a pass takes, then both arms and the null arm. */
const STARTS_BEFORE = 1;
const ARMS = 3;

test('every invocation of every arm has fresh processes, and all of them end', async () => {
  const { seen, arms, invocations, stopped } = await compareSimulated();
  expect(seen).toMatchObject({ started: STARTS_BEFORE + 6 * ARMS, alive: 0, mostAlive: ARMS });
  expect({ invocations, stopped }).toEqual({ invocations: 6, stopped: 'invocations' });
  for (const { samples_us } of arms)
    expect(samples_us.time.map(({ length }) => length)).toEqual([3, 3, 3, 3, 3, 3]);
});

test('a sample lasts, and is not one task: the recording is played so often', async () => {
  const { passes, arms, seen } = await compareSimulated({ ms: () => 0.5 });
  expect(passes).toBe(80);
  // Figures are of one pass all the same, and bytes those of the first.
  expect(arms[0]).toMatchObject({
    latency_us: { p50: 500 },
    cpu_us: 500,
    ledger: { total: { wire: 100 } },
  });
  // Each process plays it once when it is new, then to warm up, then for the samples.
  expect(seen.passes.slice(-ARMS * 5)).toEqual([1, 1, 1, ...Array.from({ length: 12 }, () => 80)]);
});

test('processes beyond what may be alive at a time wait for those before to end', async () => {
  const { seen } = await compareSimulated({ processes: 40 });
  expect(seen.mostAlive).toBe(1);
});

test('what takes longer is different, what does not is equivalent, and the baseline is set against itself', async () => {
  const slower = await compareSimulated({ ms: (name) => (name === 'cbor' ? 60 : 40) });
  expect(slower.arms[1]?.vs_baseline?.time).toMatchObject({
    verdict: 'different',
    ratio: expect.closeTo(1.5, 9),
  });
  expect(slower.arms[1]?.vs_baseline?.cpu).toMatchObject({ verdict: 'equivalent' });
  expect(slower.arms[1]?.vs_baseline?.first).toMatchObject({ verdict: 'different' });
  expect(slower.null_test.time).toMatchObject({ verdict: 'equivalent', ratio: 1 });
});

test('nothing is called below the stated minimum', async () => {
  const few = await compareSimulated({
    ms: (name) => (name === 'cbor' ? 60 : 40),
    design: { invocations: 4 },
  });
  expect(few.arms[1]?.vs_baseline?.time).toMatchObject({
    verdict: 'cannot tell',
    needed: 5,
    high: null,
  });
  const short = await compareSimulated({ ms: (name) => (name === 'cbor' ? 60 : 40), design: { rounds: 2 } });
  expect(short.arms[1]?.vs_baseline?.time?.verdict).toBe('cannot tell');
});

test('it keeps its budget', async () => {
  const { invocations, rounds, stopped, warnings } = await compareSimulated({ design: { budgetMs: 1e-9 } });
  expect({ invocations, rounds, stopped }).toEqual({ invocations: 1, rounds: 1, stopped: 'budget' });
  expect(warnings.join()).toContain('allowed 1 of 3 rounds in 1 of 6 invocations');
});

test('it plays a large recording less often, so that what a verdict needs fits the budget', async () => {
  const { passes } = await compareSimulated({ ms: () => 400, design: { budgetMs: 100_000 } });
  expect(passes).toBeLessThan(4);
});

test('the machine is watched round by round', async () => {
  const { machine } = await compareSimulated();
  expect(machine).toHaveLength(6 * 3);
  expect(machine.at(-1)).toMatchObject({ invocation: 5, round: 2, load: expect.any(Number) });
});

describe('a comparison that is interrupted', () => {
  test('keeps the invocations that were played whole', async () => {
    const { invocations, stopped, seen } = await compareSimulated({ last: STARTS_BEFORE + 3 * ARMS + 2 });
    expect({ invocations, stopped, alive: seen.alive }).toEqual({
      invocations: 3,
      stopped: 'interrupted',
      alive: 0,
    });
  });

  test('before its first invocation has nothing to report', async () => {
    await expect(compareSimulated({ last: 2 })).rejects.toThrow('interrupted');
  });
});

describe('a connection that does not come about', () => {
  test('is played again in fresh processes', async () => {
    const { invocations, lost_invocations, seen } = await compareSimulated({ lost: new Set([1, 4]) });
    expect({ invocations, lost_invocations, alive: seen.alive }).toEqual({
      ...{ invocations: 6, lost_invocations: 2, alive: 0 },
    });
  });

  test('again and again leaves its arm out, with the reason, and keeps the others', async () => {
    const { arms, failed, lost_invocations, invocations } = await compareSimulated({
      breaks: (name) => name === 'cbor' && new MeshError('agent', 'agent 2: no handshake message'),
    });
    expect(failed).toEqual(['cbor: agent 2: no handshake message']);
    expect(arms.map(({ name }) => name)).toEqual(['json']);
    expect({ lost_invocations, invocations }).toEqual({ lost_invocations: 2, invocations: 6 });
  });

  test('of the baseline ends it', async () => {
    const breaks = (name: string) =>
      name === 'json' && new MeshError('agent', 'agent 2: no handshake message');
    await expect(compareSimulated({ breaks })).rejects.toThrow('no handshake message');
  });
});

test('an adapter that is wrong is left out at once', async () => {
  const breaks = (name: string) => name === 'cbor' && new MeshError('packet', 'packet 0-1 never came');
  const { failed, lost_invocations } = await compareSimulated({ breaks });
  expect({ failed, lost_invocations }).toEqual({
    failed: ['cbor: packet 0-1 never came'],
    lost_invocations: 0,
  });
});
