import os from 'node:os';
import { packageVersion } from '@gaia-mesh/core/system/package-root.ts';
import { describeMachine, type MeasuredPart } from '@gaia-mesh/evaluation/terminal/docs-page.ts';
import { formatMarkdownTable } from '@gaia-mesh/evaluation/terminal/markdown-table.ts';
import { estimateText, formatDigits } from '../measure/rounds.ts';
import { estimateReading, type RelayOutcome, type RelayResults } from './relay-rounds.ts';
import {
  createLatencyReading,
  rateAfterCut,
  readHubCpu,
  readIdleShare,
  readPeak,
  readThousands,
  type SampleReading,
} from './sample.ts';
import { listMissingTargets, TARGET_NAMES } from './targets.ts';
import { listUnsureLoads, listVerdicts, type Verdict } from './verdicts.ts';

/** Percentage of the time in which the generator, which sleeps between packets at a fixed rate, had a core. */
const readRunShare: SampleReading = ({ own_cpu_s, seconds }) => (own_cpu_s / seconds) * 100;

/** Builds the report with all measurements: the verdicts, and each sample behind them with its round. */
export function buildRelayReport(results: RelayResults) {
  return {
    machine: describeMachine(),
    version: packageVersion,
    rounds: results.rounds,
    targets: results.targets.map(({ name, about }) => ({ name, about })),
    missing: listMissingTargets(results.targets),
    verdicts: listVerdicts(results),
    /** Loads in which the generator may have been the limit. */
    unsure: listUnsureLoads(results),
    outcomes: results.outcomes.map(({ load, target, rounds, failures }) => ({
      load,
      target,
      samples: [...rounds].map(([round, sample]) => ({ round, ...sample })),
      failures,
    })),
  };
}

/** Formats the output: the verdicts first, then their data, each table with a sentence on how to read it. */
export function formatRelayTables(results: RelayResults): string {
  const throughput = (reading: SampleReading) => {
    const outcomes = filterKind(results, 'throughput');
    const loads = [...new Set(outcomes.map(({ load }) => load))];
    return formatOutcomeRows(outcomes, [
      ...loads.map(
        ({ name }) =>
          [
            name,
            (own: readonly RelayOutcome[]) =>
              formatReading(
                own.filter((each) => each.load.name === name),
                reading,
              ),
          ] as const,
      ),
    ]);
  };
  const sections = [
    [
      'What the relay is to show',
      formatVerdictTable(listVerdicts(results)),
      'A ratio is of the flood over the other, in the same round; in brackets its interval, and behind what is wanted the aim beyond it. A verdict is about the whole interval: one that reaches across what is wanted cannot tell. The last column is the same ratio with the C relay in the flood’s place: what this machine gives to a relay that looks at nothing but lengths.',
    ],
    [
      'Delivered messages a second, thousands',
      throughput(readThousands),
      'More is better; a packet that reaches three agents is three deliveries.',
    ],
    [
      'Processor time of the hub for one delivery, µs',
      throughput(readHubCpu),
      'Less is better; it is the time of all threads of the hub or broker, and none of the agents. A packet takes N−1 times as much.',
    ],
    [
      'Peak RSS, MB',
      throughput(readPeak),
      'The most memory that the process of the hub or broker held, its start included; Node itself takes some 50 MB of it.',
    ],
    [
      'How idle the load generator was, % of the time',
      throughput(readIdleShare),
      'The more it was idle the less it can have been the limit: it waited for what is measured.',
    ],
    [
      'One packet in flight per agent, and latency at a fixed rate (N=4, 512 B)',
      formatOutcomeRows(
        [...filterKind(results, 'one in flight'), ...filterKind(results, 'latency')],
        [
          [
            'one in flight, thousands/s',
            (own) =>
              formatReading(
                own.filter(({ load }) => load.inFlight === 1),
                readThousands,
              ),
          ],
          ['p50 µs', (own) => formatReading(own, createLatencyReading('p50'))],
          ['p99 µs', (own) => formatReading(own, createLatencyReading('p99'))],
          ['p99.9 µs', (own) => formatReading(own, createLatencyReading('p999'))],
          [
            'generator ran, %',
            (own) =>
              formatReading(
                own.filter(({ load }) => load.rate !== undefined),
                readRunShare,
              ),
          ],
        ],
      ),
      'In the first column nothing can be batched, so each delivery costs system calls of its own. Latencies are one-way, at a rate that leaves every target idle most of the time, and from the time at which a packet was due: agents sleep until then, as agents of a run do. **No hub** is the floor: the same generator with two agents on one connection.',
    ],
    ['One of four never reads (4 KiB)', formatStuck(results), ''],
  ];
  return sections
    .filter(([, table]) => table !== '')
    .map(([title, table, sentence]) => `## ${title}\n\n${table}${sentence && `\n\n${sentence}`}`)
    .join('\n\n');
}

function formatVerdictTable(verdicts: readonly Verdict[]): string {
  const cells = verdicts.map(({ what, estimate, ofC, floor, aim, bound, unit, verdict }) => [
    what,
    estimateText(estimate, unit),
    `${bound} ${formatDigits(floor)}${aim === floor ? '' : ` (${formatDigits(aim)})`}`,
    verdict,
    ofC === undefined ? '' : formatDigits(ofC.median),
  ]);
  return formatMarkdownTable([['what', 'measured', 'wanted (aim)', 'verdict', 'C relay'], ...cells]);
}

/** Formats one row per target and one column for each reading of its outcomes; empty if none was measured. */
function formatOutcomeRows(
  outcomes: readonly RelayOutcome[],
  columns: readonly (readonly [string, (own: readonly RelayOutcome[]) => string])[],
): string {
  if (outcomes.length === 0) return '';
  const names = TARGET_NAMES.filter((name) => outcomes.some(({ target }) => target === name));
  const cells = names.map((name) => {
    const own = outcomes.filter(({ target }) => target === name);
    return [name, ...columns.map(([, cell]) => cell(own))];
  });
  return formatMarkdownTable([['', ...columns.map(([title]) => title)], ...cells]);
}

function formatReading(outcomes: readonly RelayOutcome[], reading: SampleReading): string {
  return outcomes.length === 0 ? '' : estimateText(estimateReading(outcomes, reading));
}

function formatStuck(results: RelayResults): string {
  const [stuck, fewer] = [filterKind(results, 'stuck'), filterKind(results, 'one fewer')];
  if (stuck.length === 0) return '';
  const cut = estimateText(estimateReading(stuck, ({ cut_s }) => cut_s));
  const after = estimateText(estimateReading(stuck, (sample) => rateAfterCut(sample) / 1000));
  const usual = formatReading(fewer, readThousands);
  return `It is cut off after ${cut} s (its queue must be full first). From half a second later on the others have ${after} thousand deliveries a second, where three agents alone have ${usual}.`;
}

function filterKind({ outcomes }: RelayResults, kind: RelayOutcome['load']['kind']): RelayOutcome[] {
  return outcomes.filter(({ load }) => load.kind === kind);
}

/** Builds the measured part of `docs/results/relay.md`. */
export function buildRelayPart(results: RelayResults): MeasuredPart {
  const abouts = results.targets.map(({ name, about }) => `- **${name}**: ${about}`).join('\n');
  const failures = [...new Set(results.outcomes.flatMap((outcome) => outcome.failures))];
  const lost = failures.map((failure) => `- ${failure.slice(0, 300)}`).join('\n');
  const unsure = listUnsureLoads(results);
  const missing = listMissingTargets(results.targets);
  return {
    facts: `JSON packets, broadcast, counters exact and checked in every round; ${results.rounds} rounds`,
    body: `What is compared:

${abouts}

${missing.length === 0 ? '' : `Not installed here, so not measured: ${missing.join(', ')}.\n\n`}${formatRelayTables(results)}${lost && `\n\n## Rounds that were not survived\n\n${lost}`}`,
    limits: [
      'Loopback is not a network.',
      `Hub, broker and generator share ${os.cpus().length} cores with everything else that runs: a hub with several threads has less of them than it would like.`,
      'Brokers do more than a relay: they keep subscriptions, and can persist.',
      unsure.length === 0
        ? 'The load generator limited none of these rates, as far as can be seen from its idle time and from the C relay.'
        : `The load generator may have been the limit for ${unsure.join('; ')}: there the hub may be faster than shown.`,
    ],
  };
}
