import {
  axisX,
  binX,
  dot,
  gridX,
  gridY,
  line,
  plot,
  pointer,
  type RectYOptions,
  rectY,
  ruleX,
  tickX,
  tip,
} from '@observablehq/plot';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { StackArm, StacksComparison, TrafficComparison } from '../../compare/comparison-file.ts';
import { formatName } from '../../compare/comparison-text.ts';
import { count } from '../../terminal/table.ts';
import { Legend } from '../chart.tsx';
import { formatMs, showHidden } from '../format.ts';
import { Card } from '../parts.tsx';

/** The times of all arms: their distribution, and for stacks how they grow with the load. */
export function TimesCards({ file }: { readonly file: TrafficComparison }) {
  return (
    <>
      <SamplesCard file={file} />
      {file.kind === 'stacks' ? <LoadCard file={file} /> : null}
    </>
  );
}

/** Number of bins for a factor of ten: narrow enough to separate times that differ by an eighth. */
const BINS = 40;
/** Samples from which on they are drawn in bins. Fewer are drawn as single lines, since most bins would hold one or none. */
const MANY_SAMPLES = 200;
const ROW_HEIGHT = 46;

/** The distribution of the times of all arms on one logarithmic axis. Two peaks show two kinds of exchange. */
function SamplesCard({ file }: { readonly file: TrafficComparison }) {
  const arms = file.arms.flatMap(({ name, latency_us: times, samples_us }, index) => {
    const own = file.kind === 'stacks' ? (file.arms[index]?.load.samples_us ?? []) : samples_us.time.flat();
    const ms = own.filter((us) => us > 0).map((us) => us / 1000);
    if (times === null || ms.length === 0) return [];
    return [
      {
        arm: formatName(name),
        ms,
        median: times.p50 / 1000,
        p99: times.p99 === null ? null : times.p99 / 1000,
      },
    ];
  });
  // With one round of each arm, the chart would repeat the table of verdicts.
  if (file.kind === 'adapters' && arms.length > 0 && arms.every(({ ms }) => ms.length < 2)) return null;
  if (arms.length === 0)
    return (
      <Card
        title="Distribution of the times"
        about="No arm kept up with the rate, so there are no times to draw."
      />
    );
  const samples = arms.flatMap(({ arm, ms }) => ms.map((value) => ({ arm, value })));
  const values = samples.map(({ value }) => value);
  const [low, high] = [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))];
  const isMany = arms.every(({ ms }) => ms.length >= MANY_SAMPLES);
  const first = Math.floor(Math.log10(low) * BINS);
  const edges = Array.from(
    { length: Math.ceil(Math.log10(high) * BINS) - first + 1 },
    (_, index) => 10 ** ((first + index) / BINS),
  );
  return (
    <Card
      title="Distribution of the times"
      nav="Latency"
      id="latency"
      about={
        file.kind === 'stacks'
          ? `At ${file.rate_per_s} exchanges a second, each from when it should have begun; up to 2,000 samples of each stack. Height: how often a time came.`
          : 'All tasks, without tools; each line is one round of one invocation.'
      }
    >
      <Chart
        label="Distribution of the times"
        of={file}
        draw={(width) => {
          const ticks = listLogTicks(low, high, width / 90);
          const isNarrow = width < 600;
          return {
            height: arms.length * ROW_HEIGHT + 56,
            marginBottom: 42,
            marginLeft: isNarrow ? 90 : 190,
            x: { type: 'log', domain: [low * 0.97, high * 1.03], label: 'milliseconds' },
            y: { axis: null },
            fy: { domain: arms.map(({ arm }) => arm), label: null, axis: 'left', padding: 0.15 },
            marks: [
              // The scale's own format would leave out labels between powers of ten.
              axisX(ticks, { text: (ms: number) => formatTick(ms) }),
              gridX({ ticks, stroke: 'var(--line)', strokeOpacity: 1 }),
              isMany
                ? rectY(
                    samples,
                    binX<RectYOptions>(
                      { y: 'proportion-facet' },
                      { x: { value: 'value', thresholds: edges }, fy: 'arm', fill: 'var(--s1)', inset: 0 },
                    ),
                  )
                : tickX(samples, { x: 'value', fy: 'arm', stroke: 'var(--s1)', strokeOpacity: 0.5 }),
              tickX(arms, { x: 'median', fy: 'arm', stroke: 'var(--ink)', strokeWidth: 2.5 }),
              tickX(arms, { x: 'p99', fy: 'arm', stroke: 'var(--s2)', strokeWidth: 2.5 }),
              isMany ? null : dot(arms, { x: 'median', fy: 'arm', fill: 'var(--ink)', r: 4 }),
            ],
          };
        }}
      />
      <Legend
        parts={[
          { name: 'median', hue: '--ink' },
          ...(arms.some(({ p99 }) => p99 !== null) ? [{ name: '99th percentile', hue: '--s2' }] : []),
        ]}
      />
    </Card>
  );
}

type Curve = NonNullable<StackArm['curve']>;

/** A small chart of latency by load for each arm, up to its knee and beyond. All charts have the same axes. */
function LoadCard({ file: { arms } }: { readonly file: StacksComparison }) {
  const drawn = arms.flatMap(({ name, curve, knee_per_s: knee }) =>
    curve === null ? [] : [{ name: formatName(name), curve, knee }],
  );
  const [first] = drawn;
  if (first === undefined || first.curve.length < 2) return null;
  const loads = widen(drawn.flatMap(({ curve }) => curve.map(({ offered_per_s }) => offered_per_s)));
  const times = widen(
    drawn
      .flatMap(({ curve }) => [...listPoints(curve, 'p50_us'), ...listPoints(curve, 'p99_us')])
      .map(({ ms }) => ms),
  );
  return (
    <Card
      id="load"
      nav="Load"
      title="Latency by load"
      about="Strong line: half of the exchanges take at most this; thin line: 99 of 100 do. Dashed: the knee, the highest load at which the median is less than ten times that of the lowest; red: a load that it did not keep up with. Grey: the baseline; the axes of all charts are the same."
    >
      <div class="panels">
        {drawn.map(({ name, curve, knee }) => (
          <div key={name}>
            <h3>{showHidden(name)}</h3>
            <p class="about">{knee === null ? 'no knee' : `knee at ${count(knee)}/s`}</p>
            <Chart
              label={`Latency by load: ${name}`}
              of={drawn}
              draw={(width) => {
                const [median, tail] = [listPoints(curve, 'p50_us'), listPoints(curve, 'p99_us')];
                const at = { x: 'load', y: 'ms' };
                return {
                  height: 180,
                  marginLeft: 44,
                  marginBottom: 34,
                  marginTop: 14,
                  x: {
                    type: 'log',
                    domain: loads,
                    label: 'exchanges offered a second',
                    ticks: listLogTicks(...loads, width / 60),
                    tickFormat: formatTick,
                  },
                  y: { type: 'log', domain: times, label: 'milliseconds', ticks: 4, tickFormat: formatTick },
                  marks: [
                    gridY({ ticks: 4, stroke: 'var(--line)', strokeOpacity: 1 }),
                    curve === first.curve
                      ? null
                      : line(listPoints(first.curve, 'p50_us'), { ...at, stroke: 'var(--s5)' }),
                    line(tail, { ...at, stroke: 'var(--s1)', strokeWidth: 1 }),
                    line(median, { ...at, stroke: 'var(--s1)', strokeWidth: 2.5 }),
                    dot(median, { ...at, r: 2.5, fill: 'var(--s1)' }),
                    tickX(
                      curve.filter(({ p50_us }) => p50_us === null),
                      { x: 'offered_per_s', stroke: 'var(--bad)', strokeWidth: 2 },
                    ),
                    knee === null ? null : ruleX([knee], { stroke: 'var(--s2)', strokeDasharray: '4 3' }),
                    tip([...median, ...tail], pointer({ ...at, title: 'title' })),
                  ],
                };
              }}
            />
          </div>
        ))}
      </div>
    </Card>
  );
}

function listPoints(curve: Curve, which: 'p50_us' | 'p99_us') {
  return curve.flatMap((point) => {
    const us = point[which];
    if (us === null || us === 0 || point.offered_per_s === 0) return [];
    const title = `${count(point.offered_per_s)}/s: ${which.slice(0, 3)} ${formatMs(us / 1000)}, ${count(point.achieved_per_s)}/s done`;
    return [{ load: point.offered_per_s, ms: us / 1000, title }];
  });
}

function widen(values: readonly number[]): [number, number] {
  const known = values.filter((value) => value > 0);
  return known.length === 0 ? [1, 10] : [Math.min(...known) * 0.9, Math.max(...known) * 1.1];
}

type PlotOptions = NonNullable<Parameters<typeof plot>[0]>;

interface ChartProps {
  /** A description for people who cannot see the chart. */
  readonly label: string;
  /** Describes the chart for a width in pixels. */
  readonly draw: (width: number) => PlotOptions;
  /** A value whose change makes the chart be drawn again. */
  readonly of: unknown;
}

/** A chart with axes. */
function Chart({ label, draw, of }: ChartProps) {
  const frame = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const node = frame.current;
    if (node === null) return;
    const measure = () => setWidth(Math.floor(node.clientWidth));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(node);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    if (width === 0) return;
    const svg = plot({
      ...draw(width),
      width,
      className: 'chart',
      ariaLabel: label,
    });
    // The page's policy allows only its own style sheet, which already has these rules.
    for (const style of svg.querySelectorAll('style')) style.remove();
    for (const group of svg.querySelectorAll('g[aria-label]')) group.removeAttribute('aria-label');
    svg.setAttribute('role', 'img');
    frame.current?.replaceChildren(svg);
  }, [width, label, of]);
  return (
    <figure class="plot">
      <div ref={frame} />
    </figure>
  );
}

/** Lists round numbers for a logarithmic axis, about as many as `most`: 1, 2, 5, 10, …, and those between them on a short axis. */
function listLogTicks(low: number, high: number, most: number): number[] {
  const steps = high / low < 4 ? Array.from({ length: 90 }, (_, index) => 1 + index / 10) : [1, 2, 5];
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    for (const step of steps) {
      const value = Number((step * 10 ** power).toPrecision(2));
      if (value >= low && value <= high) ticks.push(value);
    }
  }
  const stride = Math.max(1, Math.ceil(ticks.length / Math.max(2, most)));
  return ticks.filter((_, index) => index % stride === 0);
}

const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });
const tick = new Intl.NumberFormat('en-US', { maximumFractionDigits: 3 });

/** Formats a number below an axis: `12K`, `0.5`. */
function formatTick(value: number): string {
  return (Math.abs(value) >= 1000 ? compact.format(value) : tick.format(value)).replace('-', '−');
}
