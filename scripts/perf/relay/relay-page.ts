import os from 'node:os';
import { packageVersion } from '../../../config/package-root.ts';
import { markdownTable } from '../../markdown-table.ts';
import { machine } from '../results-page.ts';
import { cpuOf, rateAfterCut, rateOf, type Spread, spreadOf, type Verdict, verdictsOf } from './figures.ts';
import type { Sample } from './measure-relay.ts';
import { SMALL_BYTES } from './plan.ts';
import type { Outcome, RelayResults } from './run-rounds.ts';
import { TARGET_NAMES } from './targets.ts';

/** The figures as they are printed. */
export function relayTables(results: RelayResults): string {
  return [
    `## What the relay is to show\n\n${verdictTable(verdictsOf(results))}`,
    `## Delivered messages a second, thousands\n\n${throughputTable(results, (sample) => rateOf(sample) / 1000)}`,
    `## Processor time of the hub for one delivery, µs\n\n${throughputTable(results, cpuOf)}`,
    `## Peak RSS, MB\n\n${throughputTable(results, ({ hub_peak_mb }) => hub_peak_mb)}`,
    `## How idle the load generator was, % of the time\n\n${throughputTable(results, ({ idle_s, seconds }) => (idle_s / seconds) * 100)}`,
    `## One packet in flight per agent, and latency at a fixed rate (N=4, 512 B)\n\n${latencyTable(results)}`,
    `## One of four never reads (4 KiB)\n\n${stuckText(results)}`,
  ].join('\n\n');
}

/** `docs/relay.md` */
export function relayPage(results: RelayResults, revision: string, isQuick: boolean): string {
  const faults = results.outcomes.flatMap((outcome) => outcome.faults);
  const abouts = results.targets.map(({ name, about }) => `- **${name}**: ${about}`).join('\n');
  return `# The relay

Written by \`npm run perf -- --relay --write${isQuick ? ' --quick' : ''}\`; do not edit.

- ${machine()}
- Gaia Mesh ${packageVersion}, revision ${revision}; JSON packets, broadcast, counters exact and checked in every round
- ${new Date().toISOString().slice(0, 10)}; ${results.rounds} rounds; load of the machine at the end ${os.loadavg()[0]?.toFixed(1)}

A star: N agents, every packet of one goes to the N−1 others. Each target carries each load once a round, neighbours in an order of chance; figures
are medians over the rounds, with their lowest and highest in brackets. The machine changes its speed by itself: ratios are taken within a
round, and where "hub" and "hub again" differ, less than that difference means nothing.

${abouts}

${relayTables(results)}

## How it is measured

- Agents are sockets of one process in C (\`scripts/perf/relay/load.c\`). It attributes every delivery to its sender and counts it, and compares
  one packet of each read byte by byte with what was sent at that place; a lost, doubled or damaged one ends the measurement.
- Closed loop: at most 256 KiB of each agent are on the way. "Smallest packets" have ${SMALL_BYTES} bytes: an envelope with all its keys has not room in 64.
  Brokers carry the very same bytes as messages, and each agent hears all others but not itself.
- Fixed rate: latencies count from the time at which a packet should have been sent, whatever held it up; the generator spins.
- The generator is not the bottleneck where it is idle, or where the C relay, under the same generator, is faster than the target.
- A raw forwarder tears frames of several senders, so that only its bytes can be counted.
${faults.length === 0 ? '' : `\n## Rounds that were not survived\n\n${[...new Set(faults)].map((fault) => `- ${fault.slice(0, 300)}`).join('\n')}\n`}
## What these numbers cannot tell

Loopback is not a network. Hub, broker and generator share ${os.cpus().length} cores with everything else that runs: a hub with several threads has
less of them than it would like. Brokers do more than a relay: they keep subscriptions, and can persist.
`;
}

function verdictTable(verdicts: readonly Verdict[]): string {
  const rows = verdicts.map(({ what, spread, floor, aim, isAtMost, unit, verdict }) => [
    what,
    spread === undefined ? '' : `${shown(spread)}${unit === 'MB' ? ' MB' : ''}`,
    `${isAtMost ? 'at most' : 'at least'} ${digits(floor)}${aim === floor ? '' : ` (${digits(aim)})`}`,
    verdict,
  ]);
  return markdownTable([['what', 'measured', 'wanted (aim)', 'verdict'], ...rows]);
}

function throughputTable({ outcomes }: RelayResults, value: (sample: Sample) => number): string {
  const of = outcomes.filter(({ cell }) => cell.kind === 'throughput');
  const cells = [...new Set(of.map(({ cell }) => cell))];
  const names = TARGET_NAMES.filter((name) => of.some(({ target }) => target === name));
  const rows = names.map((name) => [
    name,
    ...cells.map((cell) => {
      const outcome = of.find((each) => each.cell === cell && each.target === name);
      return outcome === undefined ? '' : shown(valuesOf(outcome, value));
    }),
  ]);
  return markdownTable([['', ...cells.map(({ name }) => name)], ...rows]);
}

function latencyTable({ outcomes }: RelayResults): string {
  const single = outcomes.filter(({ cell }) => cell.kind === 'one in flight');
  const timed = outcomes.filter(({ cell }) => cell.kind === 'latency');
  const names = TARGET_NAMES.filter((name) => single.some(({ target }) => target === name));
  const rows = names.map((name) => {
    const one = single.find(({ target }) => target === name);
    const fixed = timed.find(({ target }) => target === name);
    const latency = (key: 'p50' | 'p99' | 'p999') =>
      fixed === undefined ? '' : shown(valuesOf(fixed, (sample) => sample.latency_us?.[key] ?? Number.NaN));
    const rate = one === undefined ? '' : shown(valuesOf(one, (sample) => rateOf(sample) / 1000));
    return [name, rate, latency('p50'), latency('p99'), latency('p999')];
  });
  const head = ['', 'one in flight, thousands/s', 'p50 µs', 'p99 µs', 'p99.9 µs'];
  return markdownTable([head, ...rows]);
}

function stuckText({ outcomes }: RelayResults): string {
  const hub = outcomes.find(({ cell }) => cell.kind === 'stuck');
  const fewer = outcomes.find(({ cell }) => cell.kind === 'one fewer');
  if (hub === undefined || fewer === undefined) return 'Not measured.';
  const cut = valuesOf(hub, ({ cut_s }) => cut_s);
  const after = valuesOf(hub, (sample) => rateAfterCut(sample) / 1000);
  const usual = valuesOf(fewer, (sample) => rateOf(sample) / 1000);
  return `It is cut off after ${shown(cut)} s (its queue must be full first). From half a second later on the others have ${shown(after)} thousand deliveries a second, where three agents alone have ${shown(usual)}.`;
}

function valuesOf(outcome: Outcome, value: (sample: Sample) => number): Spread | undefined {
  return spreadOf([...outcome.rounds.values()].map(value));
}

function shown(spread: Spread | undefined): string {
  if (spread === undefined) return '–';
  const { median, low, high } = spread;
  return low === high ? digits(median) : `${digits(median)} (${digits(low)}–${digits(high)})`;
}

/** Three digits that mean something. */
function digits(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(3)));
}
