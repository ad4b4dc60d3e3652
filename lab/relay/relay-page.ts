import os from 'node:os';
import { packageVersion } from '@gaia-mesh/core/system/package-root.ts';
import { describeMachine } from '@gaia-mesh/evaluation/terminal/docs-page.ts';
import { formatMarkdownTable } from '@gaia-mesh/evaluation/terminal/markdown-table.ts';
import { estimateText, formatDigits } from '../measure/rounds.ts';
import { estimateFigure, type RelayOutcome, type RelayResults } from './relay-rounds.ts';
import type { Figure } from './sample.ts';
import { listMissingTargets, TARGET_NAMES } from './targets.ts';
import { listUnsureLoads, listVerdicts, type Verdict } from './verdicts.ts';

/** Reports the results in all forms: all measurements, the tables, and the measured part of `docs/results/relay.md`. */
export function reportRelay(results: RelayResults) {
  const verdicts = listVerdicts(results);
  const unsure = listUnsureLoads(results);
  const missing = listMissingTargets(results.targets);
  const text = formatTables(results, verdicts);
  const abouts = results.targets.map(({ name, about }) => `- **${name}**: ${about}`).join('\n');
  const failures = [...new Set(results.outcomes.flatMap((outcome) => outcome.failures))];
  const lost = failures.map((failure) => `- ${failure.slice(0, 300)}`).join('\n');
  return {
    report: {
      machine: describeMachine(),
      version: packageVersion,
      rounds: results.rounds,
      targets: results.targets.map(({ name, about }) => ({ name, about })),
      missing,
      verdicts,
      /** Loads in which the generator may have been the limit. */
      unsure,
      outcomes: results.outcomes.map(({ load, target, rounds, failures: own }) => ({
        load,
        target,
        samples: [...rounds].map(([round, sample]) => ({ round, ...sample })),
        failures: own,
      })),
    },
    text,
    part: {
      facts: `JSON packets, broadcast, counters exact and checked in every round; ${results.rounds} rounds`,
      body: `What is compared:

${abouts}

${missing.length === 0 ? '' : `Not installed here, so not measured: ${missing.join(', ')}.\n\n`}${text}${lost && `\n\n## Rounds that were not survived\n\n${lost}`}`,
      limits: [
        'Loopback is not a network.',
        `Hub, broker and generator share ${os.cpus().length} cores with everything else that runs: a hub with several threads has less of them than it would like.`,
        'Brokers do more than a relay: they keep subscriptions, and can persist.',
        unsure.length === 0
          ? 'The load generator limited none of these rates, as far as can be seen from its idle time and from the C relay.'
          : `The load generator may have been the limit for ${unsure.join('; ')}: there the hub may be faster than shown.`,
      ],
    },
  };
}

/** Formats the verdicts and then their data, each table with a sentence on how to read it. */
function formatTables(results: RelayResults, verdicts: readonly Verdict[]): string {
  const throughput = (figure: Figure) => {
    const outcomes = filterKind(results, 'throughput');
    const loads = [...new Set(outcomes.map(({ load }) => load))];
    return formatOutcomeRows(
      outcomes,
      loads.map((load) => [load.name, figure, (outcome) => outcome.load === load]),
    );
  };
  const sections = [
    [
      'What the relay is to show',
      formatVerdictTable(verdicts),
      'A ratio is of the flood over the other, in the same round; in brackets its interval, and behind what is wanted the aim beyond it. A verdict is about the whole interval: one that reaches across what is wanted cannot tell. The last column is the same ratio with the C relay in the flood’s place: what this machine gives to a relay that looks at nothing but lengths.',
    ],
    [
      'Delivered messages a second, thousands',
      throughput('thousands'),
      'More is better; a packet that reaches three agents is three deliveries.',
    ],
    [
      'Processor time of the hub for one delivery, µs',
      throughput('hub_cpu_us'),
      'Less is better; it is the time of all threads of the hub or broker, and none of the agents. A packet takes N−1 times as much.',
    ],
    [
      'Peak RSS, MB',
      throughput('hub_peak_mb'),
      'The most memory that the process of the hub or broker held, its start included; Node itself takes some 50 MB of it.',
    ],
    [
      'How idle the load generator was, % of the time',
      throughput('idle_percent'),
      'The more it was idle the less it can have been the limit: it waited for what is measured.',
    ],
    [
      'One packet in flight per agent, and latency at a fixed rate (N=4, 512 B)',
      formatOutcomeRows(
        [...filterKind(results, 'one in flight'), ...filterKind(results, 'latency')],
        [
          ['one in flight, thousands/s', 'thousands', ({ load }) => load.inFlight === 1],
          ['p50 µs', 'p50_us'],
          ['p99 µs', 'p99_us'],
          ['p99.9 µs', 'p999_us'],
          ['generator ran, %', 'ran_percent', ({ load }) => load.rate !== undefined],
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

/** A column's title, its figure, and the outcomes that it is about, all by default. */
type FigureColumn = readonly [title: string, figure: Figure, isOwn?: (outcome: RelayOutcome) => boolean];

/** Formats one row per target and one column for each figure of its outcomes; empty if none was measured. */
function formatOutcomeRows(outcomes: readonly RelayOutcome[], columns: readonly FigureColumn[]): string {
  if (outcomes.length === 0) return '';
  const names = TARGET_NAMES.filter((name) => outcomes.some(({ target }) => target === name));
  const cells = names.map((name) => {
    const own = outcomes.filter(({ target }) => target === name);
    return [
      name,
      ...columns.map(([, figure, isOwn = () => true]) => formatFigure(own.filter(isOwn), figure)),
    ];
  });
  return formatMarkdownTable([['', ...columns.map(([title]) => title)], ...cells]);
}

function formatFigure(outcomes: readonly RelayOutcome[], figure: Figure): string {
  return outcomes.length === 0 ? '' : estimateText(estimateFigure(outcomes, figure));
}

function formatStuck(results: RelayResults): string {
  const [stuck, fewer] = [filterKind(results, 'stuck'), filterKind(results, 'one fewer')];
  if (stuck.length === 0) return '';
  const cut = formatFigure(stuck, 'cut_s');
  const after = formatFigure(stuck, 'thousands_after_cut');
  const usual = formatFigure(fewer, 'thousands');
  return `It is cut off after ${cut} s (its queue must be full first). From half a second later on the others have ${after} thousand deliveries a second, where three agents alone have ${usual}.`;
}

function filterKind({ outcomes }: RelayResults, kind: RelayOutcome['load']['kind']): RelayOutcome[] {
  return outcomes.filter(({ load }) => load.kind === kind);
}
