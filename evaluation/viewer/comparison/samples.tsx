import { axisX, binX, dot, gridX, type RectYOptions, rectY, tickX } from '@observablehq/plot';
import type { TrafficComparison } from '../../compare/comparison-file.ts';
import { formatName } from '../../compare/comparison-text.ts';
import { Chart, Legend, listLogTicks } from '../chart.tsx';
import { formatTick } from '../format.ts';
import { Card } from '../parts.tsx';

/** Number of bins for a factor of ten: narrow enough to separate times that differ by an eighth. */
const BINS = 40;
/** Samples from which on they are drawn in bins. Fewer are drawn as single lines, since most bins would hold one or none. */
const MANY_SAMPLES = 200;
const ROW_HEIGHT = 46;

/** The distribution of the times of all arms on one logarithmic axis. Two peaks show two kinds of exchange. */
export function SamplesCard({ file }: { readonly file: TrafficComparison }) {
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
