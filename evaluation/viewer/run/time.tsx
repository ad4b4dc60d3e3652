import { dot, gridX, ruleX, tickX } from '@observablehq/plot';
import { useMemo } from 'preact/hooks';
import type { PacketColumns, RunData } from '../../report/run/run-data.ts';
import { Chart, listLogTicks, Stack } from '../chart.tsx';
import { computeQuantile, formatCounted, formatMs, formatPercent, toLine } from '../format.ts';
import { Card, PartsBar } from '../parts.tsx';
import { type Column, createCount, ResultTable } from '../result-table.tsx';

/** In the order in which a packet goes through them, what each is, and its colour: thinking first, then the mesh. */
const PARTS = [
  ['engine', 'the engine, which does the thinking', '--s1'],
  ['tool', 'the tool around its engine', '--s3'],
  ['agent', 'the agent around its tool: log and queue', '--s5'],
  ['encode', 'the adapter, writing', '--s4'],
  ['wire', 'system calls, kernel and event loops', '--s2'],
  ['relay', 'the hub', '--ink'],
  ['decode', 'the adapter, reading', '--s4'],
  ['unknown', 'agents that did not report what they did, and the way to and from them', '--line'],
] as const;

type Hop = RunData['metrics']['hops'][number];

export function TimeCard({ run }: { readonly run: RunData }) {
  const { time_us: split, answered, hops } = run.metrics;
  if (split === null || split.total <= 0) return null;
  const mesh = split.total - split.engine - split.tool - split.unknown;
  const share = (us: number) => formatPercent(us / split.total, 0);
  const unknown = split.unknown > 0 ? `, ${share(split.unknown)} not known` : ', every part measured';
  const most = Math.max(1, ...hops.map(({ tool_us, mesh_us }) => (tool_us ?? 0) + (mesh_us ?? 0)));
  const tools = new Map(run.metrics.agents.map(({ id, tool }) => [id, tool]));
  const toMs = (us: number | null) => (us === null ? null : us / 1000);
  const columns: Column<Hop>[] = [
    {
      header: 'hop',
      value: ({ from, type }) => toLine(`${tools.get(from) ?? from} → ${type}`, 60),
      explain: 'Who sent which type of packet.',
    },
    {
      ...createCount('packets', ({ packets }) => packets, 'Packets of which the times are means.'),
      isWide: true,
    },
    {
      header: 'in the tool',
      isNumber: true,
      value: ({ tool_us }) => toMs(tool_us),
      format: formatMs,
      explain: 'Mean, by the agent’s own clock.',
    },
    {
      header: 'in the mesh',
      isNumber: true,
      value: ({ mesh_us }) => toMs(mesh_us),
      format: formatMs,
      explain: 'Mean of the rest, from the arrival of the packet that caused it until its own at the hub.',
    },
    {
      header: 'share',
      value: () => '',
      cell: ({ tool_us, mesh_us }) => (
        <Stack
          low={0}
          high={most}
          parts={[
            { name: 'tool', value: tool_us ?? 0, hue: '--s1' },
            { name: 'mesh', value: mesh_us ?? 0, hue: '--s2' },
          ]}
        />
      ),
    },
  ];
  return (
    <Card
      size="half"
      title="Where the time went"
      nav="Time"
      id="time"
      about={`${share(split.engine + split.tool)} of the time is thinking, ${share(mesh)} the mesh${unknown}: ${formatMs(split.total / 1000)} of ${formatCounted(answered, 'answered task')}, along the packets that led to each answer.`}
    >
      <PartsBar
        label="Where the time went"
        parts={PARTS.filter(([name]) => split[name] > 0).map(([name, , hue]) => ({
          name,
          hue,
          value: split[name],
          text: formatMs(split[name] / 1000),
        }))}
      />
      {hops.length === 0 ? null : <ResultTable label="Time of each hop" rows={hops} columns={columns} />}
      <details>
        <summary>What the parts are</summary>
        <dl class="pairs">
          {PARTS.filter(([name]) => split[name] > 0).map(([name, what]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
      </details>
    </Card>
  );
}

/** With fewer there is nothing to see of a distribution. */
const MIN_SAMPLES = 5;
const MAX_HOPS = 16;
/** Values of one distribution that are drawn; more are not told apart. */
const MAX_DRAWN = 400;

interface Distribution {
  readonly label: string;
  readonly sorted: readonly number[];
}

function listDistributions({ nodes, types, from, type, cause, at, isTimed }: PacketColumns): Distribution[] {
  if (!isTimed) return [];
  const steps = new Map<string, number[]>();
  for (let packet = 0; packet < at.length; packet++) {
    const before = cause[packet] ?? -1;
    if (before < 0) continue;
    const sender = nodes[from[packet] ?? 0];
    const label = `${sender?.tool === '' ? sender.id : sender?.tool} → ${types[type[packet] ?? 0]}`;
    const ms = ((at[packet] ?? 0) - (at[before] ?? 0)) / 1000;
    if (ms <= 0) continue;
    const own = steps.get(label);
    if (own === undefined) steps.set(label, [ms]);
    else own.push(ms);
  }
  return [...steps]
    .filter(([, samples]) => samples.length >= MIN_SAMPLES)
    .slice(0, MAX_HOPS)
    .map(([label, samples]) => ({ label: toLine(label, 48), sorted: samples.toSorted((a, b) => a - b) }));
}

/** Shows the time of every step; nothing for a run in which steps were taken a few times only. */
export function HopsCard({ run }: { readonly run: RunData }) {
  const { packets } = run;
  const all = useMemo(() => (packets === null ? [] : listDistributions(packets)), [packets]);
  const [slowest] = all.toSorted((a, b) => computeQuantile(b.sorted, 0.5) - computeQuantile(a.sorted, 0.5));
  if (slowest === undefined) return null;
  return (
    <Card
      title="How long each step took"
      id="steps"
      about={`The slowest step is ${slowest.label}, with a median of ${formatMs(computeQuantile(slowest.sorted, 0.5))}. Each tick is one packet, from the arrival of the packet that caused it until its own.`}
    >
      <DistributionChart label="How long each step took" distributions={all} />
    </Card>
  );
}

function DistributionChart({
  label,
  distributions,
}: {
  label: string;
  distributions: readonly Distribution[];
}) {
  const low = Math.min(...distributions.map(({ sorted }) => sorted[0] ?? 1));
  const high = Math.max(...distributions.map(({ sorted }) => sorted.at(-1) ?? 1));
  const ticks = distributions.flatMap(({ label: y, sorted }) => {
    const stride = Math.ceil(sorted.length / MAX_DRAWN);
    return sorted.filter((_, index) => index % stride === 0).map((ms) => ({ y, ms }));
  });
  const medians = distributions.map(({ label: y, sorted }) => ({ y, ms: computeQuantile(sorted, 0.5) }));
  const quantiles = (share: number) => (sorted: readonly number[]) => computeQuantile(sorted, share);
  const columns: Column<Distribution>[] = [
    { header: 'step', value: ({ label: name }) => name },
    createCount('packets', ({ sorted }) => sorted.length, 'Packets that took this step.'),
    ...(
      [
        ['quarter', quantiles(0.25), 0],
        ['median', quantiles(0.5), 0],
        ['three quarters', quantiles(0.75), 0],
        ['95th percentile', quantiles(0.95), 20],
      ] as const
    ).map(
      ([header, read, least]): Column<Distribution> => ({
        header,
        isNumber: true,
        isWide: header !== 'median',
        explain: 'From the arrival of the packet that caused it at the hub until its own.',
        value: ({ sorted }) => (sorted.length < least ? null : read(sorted)),
        format: formatMs,
      }),
    ),
  ];
  return (
    <>
      <Chart
        label={label}
        of={distributions}
        draw={(width) => {
          const axis = listLogTicks(low, high, width / 70);
          return {
            height: distributions.length * 30 + 50,
            marginLeft: width < 560 ? 90 : 190,
            x: {
              type: 'log',
              domain: [low * 0.95, high * 1.05],
              label: 'milliseconds',
              ticks: axis,
              tickFormat: String,
            },
            y: { label: null, domain: distributions.map(({ label: name }) => name) },
            marks: [
              gridX({ ticks: axis, stroke: 'var(--line)', strokeOpacity: 1 }),
              tickX(ticks, { x: 'ms', y: 'y', stroke: 'var(--s1)', strokeOpacity: 0.35, inset: 6 }),
              dot(medians, {
                x: 'ms',
                y: 'y',
                fill: 'var(--card)',
                stroke: 'var(--ink)',
                r: 4,
                strokeWidth: 2,
              }),
              ruleX([]),
            ],
          };
        }}
      />
      <details>
        <summary>Figures</summary>
        <ResultTable label={label} rows={distributions} columns={columns} />
      </details>
    </>
  );
}
