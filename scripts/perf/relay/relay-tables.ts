import { markdownTable } from '../../markdown-table.ts';
import {
  cpuOf,
  idleOf,
  ranOf,
  rateAfterCut,
  rateOf,
  type Spread,
  spreadOf,
  type Verdict,
  verdictsOf,
} from './figures.ts';
import type { Sample } from './measure-relay.ts';
import type { Cell } from './plan.ts';
import type { Outcome, RelayResults } from './run-rounds.ts';
import { TARGET_NAMES } from './targets.ts';

/** The figures as they are printed: the verdicts first, then what they were made of, each table with a sentence on how to read it. */
export function relayTables(results: RelayResults): string {
  const sections = [
    [
      'What the relay is to show',
      verdictTable(verdictsOf(results)),
      'A ratio is of the hub over the other, in the same round; in brackets its lowest and highest, and behind what is wanted the aim beyond it. A verdict is about the median. The last column is the same ratio with the C relay in the hub’s place: what this machine gives to a relay that looks at nothing but lengths.',
    ],
    [
      'Delivered messages a second, thousands',
      throughputTable(results, thousands),
      'More is better; a packet that reaches three agents is three deliveries.',
    ],
    [
      'Processor time of the hub for one delivery, µs',
      throughputTable(results, cpuOf),
      'Less is better; it is the time of all threads of the hub or broker, and none of the agents.',
    ],
    [
      'Peak RSS, MB',
      throughputTable(results, ({ hub_peak_mb }) => hub_peak_mb),
      'The most memory that the process of the hub or broker held, its start included; Node itself takes some 50 MB of it.',
    ],
    [
      'How idle the load generator was, % of the time',
      throughputTable(results, idleOf),
      'The more it was idle the less it can have been the limit: it waited for what is measured.',
    ],
    [
      'What a write takes, µs, as its reader sleeps or not',
      wakeTable(results),
      'Whoever wakes a reader pays for it. Where the hub is busy and the generator idle, most writes wake it; where the readers are behind, none does, and the same hub carries far more. Each state feeds itself, so many rates above have two modes, and a target may be in one while its neighbour is in the other: compare the ranges, too.',
    ],
    [
      'Node processes as agents (N=4, 512 B)',
      nodeTable(results),
      'What a user sees whose agents are Node programs: each agent is a process, connected to NATS with `@nats-io/transport-node`, else with the connection of this project’s agents; where the C relay is no faster than the hub, the agents are the limit, not the hub.',
    ],
    [
      'One packet in flight per agent, and latency at a fixed rate (N=4, 512 B)',
      latencyTable(results),
      'In the first column nothing can be batched, so each delivery costs system calls of its own; latencies are one-way, at a rate that leaves every target idle most of the time. Then the generator spins: whatever is missing from 100 % in the last column was taken from it by the machine for milliseconds at a time, and such gaps make the tail of every target, C included.',
    ],
  ] as const;
  return [
    ...sections.map(([title, table, sentence]) => `## ${title}\n\n${table}\n\n${sentence}`),
    `## One of four never reads (4 KiB)\n\n${stuckText(results)}`,
  ].join('\n\n');
}

function verdictTable(verdicts: readonly Verdict[]): string {
  const rows = verdicts.map(({ what, spread, ofC, floor, aim, isAtMost, unit, verdict }) => [
    what,
    spread === undefined ? '–' : `${shown(spread)}${unit === 'MB' ? ' MB' : ''}`,
    `${isAtMost ? 'at most' : 'at least'} ${digits(floor)}${aim === floor ? '' : ` (${digits(aim)})`}`,
    verdict,
    ofC === undefined ? '' : digits(ofC.median),
  ]);
  return markdownTable([['what', 'measured', 'wanted (aim)', 'verdict', 'C relay'], ...rows]);
}

function throughputTable(results: RelayResults, value: (sample: Sample) => number): string {
  const of = ofKind(results, 'throughput');
  const cells = [...new Set(of.map(({ cell }) => cell))];
  const rows = namesIn(of).map((name) => [
    name,
    ...cells.map((cell) => {
      const outcome = of.find((each) => each.cell === cell && each.target === name);
      return outcome === undefined ? '' : shown(spreadIn(outcome, value));
    }),
  ]);
  return markdownTable([['', ...cells.map(({ name }) => name)], ...rows]);
}

function wakeTable({ wakes }: RelayResults): string {
  const rows = (['asleep', 'awake'] as const).map((state) => [
    state,
    ...(['small', 'large'] as const).map((size) => shown(spreadOf(wakes.map((wake) => wake[size][state])))),
  ]);
  return markdownTable([['reader', '64 B', '64 KiB'], ...rows]);
}

function nodeTable(results: RelayResults): string {
  const of = ofKind(results, 'Node agents');
  const rows = namesIn(of).map((name) => {
    const outcome = of.find(({ target }) => target === name);
    return [name, ...[thousands, cpuOf, idleOf].map((value) => shown(spreadIn(outcome, value)))];
  });
  return markdownTable([['', 'thousands/s', 'hub, µs a delivery', 'agents idle, %'], ...rows]);
}

function latencyTable(results: RelayResults): string {
  const single = ofKind(results, 'one in flight');
  const timed = ofKind(results, 'latency');
  const rows = namesIn(single).map((name) => {
    const fixed = timed.filter(({ target }) => target === name);
    const latency = (key: 'p50' | 'p99' | 'p999') =>
      shown(spreadOver(fixed, (sample) => sample.latency_us?.[key] ?? Number.NaN));
    const rate = shown(
      spreadIn(
        single.find(({ target }) => target === name),
        thousands,
      ),
    );
    return [name, rate, latency('p50'), latency('p99'), latency('p999'), shown(spreadOver(fixed, ranOf))];
  });
  const head = ['', 'one in flight, thousands/s', 'p50 µs', 'p99 µs', 'p99.9 µs', 'generator ran, %'];
  return markdownTable([head, ...rows]);
}

function stuckText(results: RelayResults): string {
  const [hub] = ofKind(results, 'stuck');
  const [fewer] = ofKind(results, 'one fewer');
  if (hub === undefined || fewer === undefined) return 'Not measured.';
  const cut = shown(spreadIn(hub, ({ cut_s }) => cut_s));
  const after = shown(spreadIn(hub, (sample) => rateAfterCut(sample) / 1000));
  const usual = shown(spreadIn(fewer, thousands));
  return `It is cut off after ${cut} s (its queue must be full first). From half a second later on the others have ${after} thousand deliveries a second, where three agents alone have ${usual}.`;
}

const thousands = (sample: Sample) => rateOf(sample) / 1000;

function ofKind({ outcomes }: RelayResults, kind: Cell['kind']): Outcome[] {
  return outcomes.filter(({ cell }) => cell.kind === kind);
}

/** The targets of those outcomes, in the order of all tables. */
function namesIn(outcomes: readonly Outcome[]): string[] {
  return TARGET_NAMES.filter((name) => outcomes.some(({ target }) => target === name));
}

function spreadIn(outcome: Outcome | undefined, value: (sample: Sample) => number): Spread | undefined {
  return outcome && spreadOver([outcome], value);
}

function spreadOver(outcomes: readonly Outcome[], value: (sample: Sample) => number): Spread | undefined {
  return spreadOf(outcomes.flatMap(({ rounds }) => [...rounds.values()].map(value)));
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
