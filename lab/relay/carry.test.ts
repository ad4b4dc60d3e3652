import { spawnSync } from 'node:child_process';
import { describe, expect, type TestContext, test } from 'vitest';
import { carryLoad } from './carry.ts';
import type { Load } from './loads.ts';
import { listInstalledTargets, PEERS, type RelayTarget, type TargetName } from './targets.ts';

/** Forwards what it reads to all others, as it comes: frames of several senders come out torn. */
const FORWARDER = `
const sockets = process.argv.slice(1).map((port) => require('node:net').connect(Number(port), '127.0.0.1'));
for (const socket of sockets) {
  socket.on('data', (chunk) => sockets.forEach((other) => other === socket || other.write(chunk)));
  socket.on('close', () => process.exit(0)).on('error', () => process.exit(0));
}
console.log('ready');
`;

const hasCompiler = ['cc', 'gcc', 'clang'].some((name) => spawnSync(name, ['--version']).status === 0);
if (!hasCompiler) console.warn('skipped: no C compiler for the load generator of perf --relay');

describe.runIf(hasCompiler || process.env.CI === 'true')('the load of perf --relay', () => {
  const load: Load = {
    name: 'test',
    kind: 'throughput',
    agents: 3,
    bytes: 300,
    seconds: 0.2,
    rounds: 1,
    targets: [],
  };

  async function target(name: TargetName): Promise<RelayTarget> {
    const found = (await listInstalledTargets()).find((each) => each.name === name);
    if (found === undefined) throw new Error(`no ${name}`);
    return found;
  }

  /** Without the peer a test is skipped, and fails where `CI=true`. */
  async function peer(name: TargetName, context: TestContext): Promise<RelayTarget> {
    const targets = await listInstalledTargets();
    if (process.env.CI !== 'true' && !targets.some((each) => each.name === name)) {
      context.skip(`${name} is not installed`);
    }
    return target(name);
  }

  async function expectCounted(by: RelayTarget, what: Load): Promise<void> {
    const sample = await carryLoad(by, what);
    expect(sample).toMatchObject({ bad: 0, came: sample.wanted, wanted: sample.sent * (what.agents - 1) });
    expect(sample.delivered).toBeGreaterThan(0);
    expect(sample.hub_peak_mb).toBeGreaterThan(1);
  }

  // The relays that ours are set beside are measured by hand: they are tried before a release.
  const isRelease = process.env.GAIA_MESH_RELEASE === 'true';
  const others = ['C relay', 'Node relay'] as const;
  test.each(['run', 'flood', ...(isRelease ? others : [])] as const)(
    'is carried by the %s, and counted',
    async (name) => expectCounted(await target(name), load),
  );

  test.runIf(isRelease).for(PEERS)('is carried by %s, and counted', async (name, context) =>
    expectCounted(await peer(name, context), load),
  );

  test.each(['flood', 'no hub'] as const)(
    'at a fixed rate has a latency for each delivery, by %s',
    async (name) => {
      const { latency_us, delivered, own_cpu_s, seconds } = await carryLoad(await target(name), {
        ...load,
        rate: 1000,
        seconds: 0.5,
      });
      expect(latency_us?.samples).toBe(delivered);
      // Its agents sleep between their packets.
      expect(own_cpu_s).toBeLessThan(0.8 * seconds);
      expect(latency_us?.p50).toBeGreaterThan(1);
      expect(latency_us?.p50).toBeLessThanOrEqual(latency_us?.p99 ?? 0);
    },
  );

  test('sees a stuck agent cut off, and the others go on', async () => {
    const sample = await carryLoad(await target('flood'), {
      ...load,
      bytes: 4096,
      isOneStuck: true,
      seconds: 1.5,
    });
    expect(sample.cut_s).toBeGreaterThan(0.2);
    expect(sample.tenths.slice(-4).every((each) => each > 0)).toBe(true);
  });

  test('fails when frames are damaged', async () => {
    // Chunks of several senders one behind the other are no frames any more.
    const tearing: RelayTarget = {
      name: 'Node relay',
      about: 'a forwarder that does not look for frames',
      wire: 'frames',
      command: (ports) => [process.execPath, '-e', FORWARDER, ...ports],
    };
    await expect(carryLoad(tearing, load)).rejects.toMatchObject({ code: 'io' });
  });
});
